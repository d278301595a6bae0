import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { openDatabase } from "#storage/db";
import { appliances } from "#storage/schema";
import { visit, type Client } from "./client.ts";
import { readXml, type XmlDocument } from "./xml.ts";

export const db = openDatabase(env);

/** The stored row. */
export async function rowOf(id: number) {
  const row = await db.query.appliances.findFirst({ where: eq(appliances.id, id) });
  if (!row) throw new Error(`no appliance ${id}`);
  return row;
}

/** The columns that store a configuration, as text. */
export async function storedText(id: number): Promise<string> {
  const { name, version, imageType, configuration } = await rowOf(id);
  return JSON.stringify({ name, version, imageType, configuration });
}

export const readConfiguration = async (tux: Client, id: number): Promise<XmlDocument> =>
  (await readXml(await tux.get(`/appliances/${id}/configuration`))).configuration;

export const documentOf = async (tux: Client, id: number): Promise<string> =>
  await (await tux.get(`/appliances/${id}/configuration`)).text();

/** Sends a partial configuration: the elements inside the root. */
export const putPortion = (tux: Client, id: number, portion: string): Promise<Response> =>
  tux.put(`/appliances/${id}/configuration`, `<configuration>${portion}</configuration>`);

/** Sends a partial configuration as JSON. */
export const putConfiguration = (tux: Client, id: number, configuration: object): Promise<Response> =>
  tux.put(`/appliances/${id}/configuration`, JSON.stringify({ configuration }), "application/json");

/** Sends a document that must replace a specific one. */
export const putIfMatch = (
  tux: Client,
  path: string,
  { body, tags }: { body: string; tags: string },
): Promise<Response> => {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  return visit(`/api/v2/user${path}`, { method: "PUT", body, headers: { authorization, "if-match": tags } });
};

/** A document with a value in every field. */
export const fullDocument = (id: number): string => `<configuration>
  <id>${id}</id>
  <name>Museum guide</name>
  <description>Shows the way around.

Second paragraph &amp; last.
</description>
  <version>1.2.3</version>
  <type>iso</type>
  <website>https://museum.example.org/guide?a=1&amp;b=2</website>
  <tags count="2">
    <tag>museum</tag>
    <tag>öffentlich</tag>
  </tags>
  <locale>
    <keyboard_layout>french</keyboard_layout>
    <language>fr_FR.UTF-8</language>
    <timezone>
      <location>Europe/Paris</location>
    </timezone>
  </locale>
  <network>
    <type>manual</type>
    <hostname>guide1</hostname>
    <ip>192.0.2.10</ip>
    <netmask>255.255.255.0</netmask>
    <route>192.0.2.1</route>
    <nameservers>192.0.2.2, 192.0.2.3</nameservers>
  </network>
  <firewall>
    <enabled>false</enabled>
    <open_port>https</open_port>
    <open_port>8080/tcp</open_port>
  </firewall>
  <users count="2">
    <user>
      <uid>0</uid>
      <name>root</name>
      <password> keep the spaces </password>
      <group>root</group>
      <shell>/bin/bash</shell>
      <homedir>/root</homedir>
    </user>
    <user>
      <uid>1003</uid>
      <name>guide</name>
      <password>sealed:&lt;not&gt;</password>
      <group>users</group>
      <shell>/bin/sh</shell>
      <homedir>/srv/guide</homedir>
    </user>
  </users>
  <eulas count="2">
    <eula>Do not touch the paintings.
</eula>
    <eula>Second.</eula>
  </eulas>
  <databases count="1">
    <database>
      <type>mysql</type>
      <users count="1">
        <user>
          <username>guide</username>
          <password>pa:int$1</password>
          <database_list>rooms,paintings</database_list>
        </user>
      </users>
    </database>
  </databases>
  <autostarts count="1">
    <autostart>
      <command>/usr/bin/guide --full</command>
      <description>The guide</description>
      <enabled>false</enabled>
      <user>guide</user>
    </autostart>
  </autostarts>
  <settings>
    <memory_size>1024</memory_size>
    <disk_size>9</disk_size>
    <swap_size>256</swap_size>
    <pae_enabled>true</pae_enabled>
    <xen_host_mode_enabled>true</xen_host_mode_enabled>
    <cdrom_enabled>false</cdrom_enabled>
    <webyast_enabled>true</webyast_enabled>
    <live_installer_enabled>true</live_installer_enabled>
    <public_clonable>false</public_clonable>
    <runlevel>5</runlevel>
    <automatic_login>guide</automatic_login>
  </settings>
  <lvm>
    <enabled>true</enabled>
    <volume_group>guideVG</volume_group>
    <volumes count="2">
      <volume>
        <size>3000</size>
        <path>/</path>
      </volume>
      <volume>
        <size>2000</size>
        <path>/srv</path>
      </volume>
    </volumes>
  </lvm>
  <scripts>
    <build>
      <enabled>true</enabled>
      <script>#!/bin/bash -e
test 1 -lt 2 &amp;&amp; echo "&lt;ok&gt;"
</script>
    </build>
    <boot>
      <enabled>false</enabled>
      <script>#!/bin/sh
	true</script>
    </boot>
    <autoyast>
      <enabled>false</enabled>
    </autoyast>
  </scripts>
</configuration>
`;
