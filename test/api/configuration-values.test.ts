import { describe, expect, it } from "vitest";
import { signedIn } from "../support/client.ts";
import { putPortion, storedText } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";
import { expectError } from "../support/xml.ts";

const tux = await signedIn();
const id = await createAppliance(tux);

const user = (inner: string) =>
  `<users><user><name>root</name></user><user><name>amal</name><password>p</password>${inner}</user></users>`;
const userNamed = (name: string) => `<users><user><name>root</name></user><user><name>${name}</name></user></users>`;
const database = (inner: string) => `<databases><database><type>pgsql</type>${inner}</database></databases>`;
const databaseUser = (inner: string) => database(`<users><user>${inner}</user></users>`);
const autostart = (inner: string) => `<autostarts><autostart>${inner}</autostart></autostarts>`;
const volume = (path: string, size = "1") => `<volume><path>${path}</path><size>${size}</size></volume>`;
const lvm = (volumes: string) =>
  `<lvm><enabled>true</enabled><volume_group>vg</volume_group><volumes>${volumes}</volumes></lvm>`;
const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join("");

/** Portions with one invalid value, and the path at the start of the message. */
const badValues: [string, string][] = [
  ["<name/>", "name"],
  [`<name>${"x".repeat(256)}</name>`, "name"],
  ["<name>a\tb</name>", "name"],
  ["<version>1.0</version>", "version"],
  ["<version>0.0.10000</version>", "version"],
  ["<type>usb</type>", "type"],
  ["<website>museum.example.org</website>", "website"],
  ["<website>javascript:alert(1)</website>", "website"],
  [`<description>${"x".repeat(64 * 1024 + 1)}</description>`, "description"],
  ["<description>\u0007</description>", "description"],
  [`<tags>${times(51, (i) => `<tag>${i}</tag>`)}</tags>`, "tags"],
  [`<tags><tag>${"x".repeat(51)}</tag></tags>`, "tags/tag"],
  ["<tags><tag/></tags>", "tags/tag"],
  ["<tags>museum</tags>", "tags"],
  ["<locale><keyboard_layout>klingon</keyboard_layout></locale>", "locale/keyboard_layout"],
  ["<locale><keyboard_layout>constructor</keyboard_layout></locale>", "locale/keyboard_layout"],
  ["<locale><language>german</language></locale>", "locale/language"],
  ["<locale><timezone><location>Europe/Atlantis</location></timezone></locale>", "locale/timezone/location"],
  ["<network><type>static</type></network>", "network/type"],
  ["<network><type>manual</type></network>", "network/ip"],
  ["<network><type>manual</type><ip>192.0.2.1</ip></network>", "network/netmask"],
  ["<network><hostname>a_b</hostname></network>", "network/hostname"],
  ["<network><ip>192.0.2.256</ip></network>", "network/ip"],
  ["<network><netmask>255.0.255.0</netmask></network>", "network/netmask"],
  ["<network><ip>2001:db8::1</ip><netmask>255.255.255.0</netmask></network>", "network/netmask"],
  ["<network><route>gateway</route></network>", "network/route"],
  ["<network><ip>192.0.2.1</ip><route>2001:db8::1</route></network>", "network/route"],
  ["<network><nameservers>192.0.2.1, dns</nameservers></network>", "network/nameservers"],
  ["<firewall><enabled>maybe</enabled></firewall>", "firewall/enabled"],
  ["<firewall><enabled/></firewall>", "firewall/enabled"],
  ["<firewall><open_port>70000</open_port></firewall>", "firewall/open_port"],
  [`<firewall>${times(201, (i) => `<open_port>${i + 1}</open_port>`)}</firewall>`, "firewall/open_port"],
  ["<users/>", "users"],
  [user("<uid>-1</uid>"), "users/user/uid"],
  [user("<uid>60001</uid>"), "users/user/uid"],
  [user("<uid>0</uid>"), "users/user/uid"],
  ["<users><user><name>root</name><uid>1</uid></user></users>", "users/user/uid"],
  [
    user("<uid>1000</uid>").replace(
      "</users>",
      "<user><name>b</name><password>p</password><uid>1000</uid></user></users>",
    ),
    "users/user/uid",
  ],
  [`<users>${times(2, () => "<user><name>root</name></user>")}</users>`, "users/user/name"],
  ["<users><user><uid>0</uid></user></users>", "users/user/name"],
  [userNamed("Amal"), "users/user/name"],
  [userNamed("a:b"), "users/user/name"],
  [userNamed("amal"), "users/user/password"],
  [user("<group>a b</group>"), "users/user/group"],
  [user("<shell>bash</shell>"), "users/user/shell"],
  [user("<homedir>/home/../root</homedir>"), "users/user/homedir"],
  ["<users><user><name>root</name><password/></user></users>", "users/user/password"],
  ["<users><user><name>root</name><password>a\nb</password></user></users>", "users/user/password"],
  [`<users><user><name>root</name><password>${"é".repeat(65)}</password></user></users>`, "users/user/password"],
  [`<users><user><name>root</name></user>${times(100, (i) => `<user><name>u${i}</name></user>`)}</users>`, "users"],
  ["<settings><automatic_login>amal</automatic_login></settings>", "settings/automatic_login"],
  [autostart("<command/>"), "autostarts/autostart/command"],
  [autostart("<user>root</user>"), "autostarts/autostart/command"],
  [autostart("<command>/a</command><user>amal</user>"), "autostarts/autostart/user"],
  [autostart("<command>/a</command><description>a\nb</description>"), "autostarts/autostart/description"],
  ["<eulas><eula> </eula></eulas>", "eulas/eula"],
  [`<eulas><eula>${"x".repeat(64 * 1024 + 1)}</eula></eulas>`, "eulas/eula"],
  [`<eulas>${times(21, () => "<eula>x</eula>")}</eulas>`, "eulas"],
  [`<eulas>${times(9, () => `<eula>${"x".repeat(60_000)}</eula>`)}</eulas>`, "configuration"],
  ["<databases><database/></databases>", "databases/database/type"],
  ["<databases><database><type>oracle</type></database></databases>", "databases/database/type"],
  [`<databases>${times(2, () => "<database><type>mysql</type></database>")}</databases>`, "databases/database/type"],
  [databaseUser("<username>a-b</username><password>p</password>"), "databases/database/users/user/username"],
  [databaseUser("<username>pg_app</username><password>p</password>"), "databases/database/users/user/username"],
  [databaseUser("<username>public</username><password>p</password>"), "databases/database/users/user/username"],
  [
    databaseUser("<username>mysql</username><password>p</password>").replace("pgsql", "mysql"),
    "databases/database/users/user/username",
  ],
  [databaseUser("<username>a</username>"), "databases/database/users/user/password"],
  [
    databaseUser("<username>a</username><password>p</password><database_list>a;b</database_list>"),
    "databases/database/users/user/database_list",
  ],
  [
    databaseUser("<username>a</username><password>p</password><database_list>a,template0</database_list>"),
    "databases/database/users/user/database_list",
  ],
  [
    database(`<users>${times(2, () => "<user><username>a</username><password>p</password></user>")}</users>`),
    "databases/database/users/user/username",
  ],
  ["<settings><memory_size>63</memory_size></settings>", "settings/memory_size"],
  ["<settings><memory_size>65G</memory_size></settings>", "settings/memory_size"],
  ["<settings><memory_size>many</memory_size></settings>", "settings/memory_size"],
  ["<settings><memory_size>1.5G</memory_size></settings>", "settings/memory_size"],
  ["<settings><memory_size>64</memory_size><memory-size>65</memory-size></settings>", "settings/memory_size"],
  ["<settings><disk_size>0</disk_size></settings>", "settings/disk_size"],
  ["<settings><disk_size>1025</disk_size></settings>", "settings/disk_size"],
  ["<settings><disk_size>63M</disk_size></settings>", "settings/disk_size"],
  ["<settings><swap_size>65537</swap_size></settings>", "settings/swap_size"],
  ["<settings><swap_size>-1</swap_size></settings>", "settings/swap_size"],
  ["<settings><runlevel>6</runlevel></settings>", "settings/runlevel"],
  ["<settings><pae_enabled/></settings>", "settings/pae_enabled"],
  ...["quiet; reboot", "a=$(b)", "a='b'", 'a="b"', "a\\b", "a {b}", "a*", "x".repeat(513)].map(
    (text): [string, string] => [
      `<settings><kernel_arguments>${text}</kernel_arguments></settings>`,
      "settings/kernel_arguments",
    ],
  ),
  ["<settings><ssh_passwords>yes</ssh_passwords></settings>", "settings/ssh_passwords"],
  ["<settings><first_boot>ignition</first_boot></settings>", "settings/first_boot"],
  // The base system of these tests has no packages for it.
  ["<settings><first_boot>cloud-init</first_boot></settings>", "settings/first_boot"],
  ["<settings><automatic_updates>weekly</automatic_updates></settings>", "settings/automatic_updates"],
  ["<settings><automatic_updates>security</automatic_updates></settings>", "settings/automatic_updates"],
  ["<settings><disk_encryption>yes</disk_encryption></settings>", "settings/disk_encryption"],
  ["<settings><disk_encryption>passphrase</disk_encryption></settings>", "settings/disk_encryption"],
  ["<settings><file_system>ext3</file_system></settings>", "settings/file_system"],
  ["<settings><file_system>xfs</file_system></settings>", "settings/file_system"],
  ...["4:00", "24:00", "04:60", "04:00:00", "04"].map((time): [string, string] => [
    `<settings><updates_reboot_at>${time}</updates_reboot_at></settings>`,
    "settings/updates_reboot_at",
  ]),
  ...["02:00", "2:00-5:00", "02:00-02:00", "24:00-02:00", "sat02:00-05:00", "sat, sun 02:00-05:00"].map(
    (window): [string, string] => [
      `<settings><automatic_builds_at>${window}</automatic_builds_at></settings>`,
      "settings/automatic_builds_at",
    ],
  ),
  ...[
    "https://tang",
    "tang:7500",
    "http://",
    "http://tang' reboot",
    "http://tang/$(reboot)",
    "http://root@tang",
    "http://tang:75001000",
    `http://${"x".repeat(257)}`,
  ].map((url): [string, string] => [`<settings><tang_server>${url}</tang_server></settings>`, "settings/tang_server"]),
  ...["9gmu", "x".repeat(44), `${"x".repeat(42)}'`].map((thumbprint): [string, string] => [
    `<settings><tang_thumbprint>${thumbprint}</tang_thumbprint></settings>`,
    "settings/tang_thumbprint",
  ]),
  ["<settings>fast</settings>", "settings"],
  ["<lvm><enabled>true</enabled></lvm>", "lvm/volume_group"],
  ["<lvm><volume_group>-a</volume_group></lvm>", "lvm/volume_group"],
  ...[".", "..", "a/b", "a b", "a".repeat(64)].map((name): [string, string] => [
    `<lvm><volume_group>${name}</volume_group></lvm>`,
    "lvm/volume_group",
  ]),
  [lvm(volume("srv")), "lvm/volumes/volume/path"],
  [lvm(volume("/proc")), "lvm/volumes/volume/path"],
  [lvm(volume("/srv") + volume("/srv")), "lvm/volumes/volume/path"],
  [lvm(volume("/srv", "0")), "lvm/volumes/volume/size"],
  [lvm("<volume><path>/srv</path></volume>"), "lvm/volumes/volume/size"],
  [lvm("<volume><size>1</size></volume>"), "lvm/volumes/volume/path"],
  [lvm(times(51, (i) => volume(`/srv/${i}`))), "lvm/volumes"],
  [`<scripts><boot><script>${"x".repeat(64 * 1024 + 1)}</script></boot></scripts>`, "scripts/boot/script"],
  ["<scripts><build><script>a\u0000b</script></build></scripts>", "scripts/build/script"],
];

/** Portions with an unknown element, and its path. */
const badNodes: [string, string][] = [
  ["<slms/>", "slms"],
  ["<settings><colour>red</colour></settings>", "settings/colour"],
  ["<network><type><x/></type></network>", "network/type/x"],
  ["<users><person/></users>", "users/person"],
  ["<users><user><nick>a</nick></user></users>", "users/user/nick"],
  ["<tags><tag><b>bold</b></tag></tags>", "tags/tag/b"],
  ["<locale><timezone><utc>1</utc></timezone></locale>", "locale/timezone/utc"],
  ["<scripts><shutdown/></scripts>", "scripts/shutdown"],
  ["<lvm><volumes><disk/></volumes></lvm>", "lvm/volumes/disk"],
  ["<autostarts><autostart><user><group>a</group></user></autostart></autostarts>", "autostarts/autostart/user/group"],
  ["<firewall><open_port><x/></open_port></firewall>", "firewall/open_port/x"],
  ["<firewall><close_port>1</close_port></firewall>", "firewall/close_port"],
];

describe("PUT configuration refuses, without changes,", () => {
  it.each(badValues)("the value in %.80s", async (portion, path) => {
    const before = await storedText(id);

    // A valid change before it must not be applied either.
    const beside = portion.startsWith("<tags") ? "" : "<tags><tag>new</tag></tags>";
    const message = await expectError(await putPortion(tux, id, beside + portion), 400, "invalid_value");

    expect(message.split(": ")[0]).toBe(path);
    expect(await storedText(id)).toBe(before);
  });

  it.each(badNodes)("the element in %s", async (portion, path) => {
    const before = await storedText(id);

    const message = await expectError(await putPortion(tux, id, `<name>Renamed</name>${portion}`), 400, "invalid_node");

    expect(message).toBe(`The element ${path} is not known here.`);
    expect(await storedText(id)).toBe(before);
  });

  it.each([
    ["", "invalid_xml"],
    ["<configuration><name>a</configuration>", "invalid_xml"],
    ["<!DOCTYPE a><configuration/>", "invalid_xml"],
    [`<configuration>${" ".repeat(1024 * 1024)}</configuration>`, "invalid_xml"],
    ["<software/>", "invalid_node"],
    ["<configuration>dhcp</configuration>", "invalid_value"],
  ])("the body %.40j with %s", async (body, code) => {
    await expectError(await tux.put(`/appliances/${id}/configuration`, body), 400, code);
  });

  it("a change that makes another, unsent value invalid", async () => {
    const other = await createAppliance(tux);
    await putPortion(tux, other, `${user("")}<settings><automatic_login>amal</automatic_login></settings>`);
    const before = await storedText(other);

    const withoutAmal = await putPortion(tux, other, "<users><user><name>root</name></user></users>");

    expect(await expectError(withoutAmal, 400, "invalid_value")).toMatch(/^settings\/automatic_login: /);
    expect(await storedText(other)).toBe(before);
  });
});
