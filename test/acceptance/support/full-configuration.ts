/** A configuration with a value in each of its fields, as a client sends it. */

export const eula = "Do not feed the kiosk.";

/** Prints the whole state of the guest on its serial line for the test. */
const bootScript = `#!/bin/bash
# Nobody waits for programs that start with the system: for a minute we do.
for second in {1..60}; do [[ -s /tmp/started ]] && break; sleep 1; done
echo >> /var/lib/boots
{
  echo "REPORT"
  echo "host=$(hostname)"
  echo "address=$(ip -4 addr show eth0 | awk '/inet /{print $2}')"
  echo "route=$(ip route | awk '/^default/{print $3}')"
  echo "swap=$(awk 'NR == 2 {print $1, $3}' /proc/swaps)"
  echo "started=$(cat /tmp/started)"
  echo "boots=$(wc -l < /var/lib/boots)"
  echo "clock=$(date +%Z)"
  echo "kernel=$(cat /proc/cmdline)"
  echo "note=$(cat /usr/share/own-note/note)"
  nft list ruleset
  echo "END"
} > /dev/ttyS0`;

const buildScript = `#!/bin/bash
set -e
echo "the build script says hello"
echo "as $(id -un) in $(pwd), with $(cat /etc/hostname)" > /etc/build-script-was-here
grep -c "" /etc/kiosk/settings.conf >> /etc/build-script-was-here
mkdir -p /etc/ssh
echo key > /etc/ssh/ssh_host_rsa_key
echo 0123456789abcdef0123456789abcdef > /etc/machine-id
mkdir -p /root/.aws
echo aws_secret_access_key=forgotten > /root/.aws/credentials`;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

export const fullConfiguration = `<?xml version="1.0" encoding="UTF-8"?>
<configuration>
  <description>Sells tickets; it's "the" kiosk</description>
  <version>0.0.7</version>
  <website>http://kiosk.example/</website>
  <locale>
    <keyboard_layout>german</keyboard_layout>
    <language>de_DE.UTF-8</language>
    <timezone><location>Europe/Vienna</location></timezone>
  </locale>
  <network>
    <type>manual</type>
    <hostname>kiosk7.example.org</hostname>
    <ip>10.11.12.13</ip>
    <netmask>255.255.255.0</netmask>
    <route>10.11.12.1</route>
    <nameservers>10.11.12.2, 10.11.12.3</nameservers>
  </network>
  <firewall><enabled>true</enabled><open_port>ssh</open_port><open_port>8080</open_port></firewall>
  <users>
    <user><uid>0</uid><name>root</name><password>linux</password></user>
    <user>
      <uid>1234</uid><name>clerk</name><password>counter</password>
      <group>tellers</group><shell>/bin/sh</shell><homedir>/srv/clerk</homedir>
    </user>
  </users>
  <eulas><eula>${eula}</eula></eulas>
  <databases>
    <database>
      <type>pgsql</type>
      <users>
        <user><username>tickets</username><password>s3same</password><database_list>tickets_prod</database_list></user>
      </users>
    </database>
  </databases>
  <autostarts>
    <autostart>
      <command>echo "by $(id -un)" &gt; /tmp/started</command>
      <description>Counter</description><enabled>true</enabled><user>clerk</user>
    </autostart>
    <autostart><command>/bin/false</command><enabled>false</enabled><user>root</user></autostart>
  </autostarts>
  <settings>
    <memory_size>256</memory_size><disk_size>700M</disk_size><swap_size>64</swap_size>
    <runlevel>3</runlevel><automatic_login>clerk</automatic_login>
    <pae_enabled>true</pae_enabled><xen_host_mode_enabled>true</xen_host_mode_enabled>
    <live_installer_enabled>true</live_installer_enabled><webyast_enabled>true</webyast_enabled>
    <kernel_arguments>kiln.counter=7 printk.time=1</kernel_arguments>
  </settings>
  <scripts>
    <build><enabled>true</enabled><script>${escaped(buildScript)}</script></build>
    <boot><enabled>true</enabled><script>${escaped(bootScript)}</script></boot>
    <autoyast><enabled>true</enabled><script>&lt;profile/&gt;</script></autoyast>
  </scripts>
</configuration>`;
