import { describe, expect, it } from "vitest";
import { signedIn, visit } from "../support/client.ts";
import { fullDocument, putPortion, readConfiguration, rowOf } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";
import { readXml } from "../support/xml.ts";

const tux = await signedIn();

/**
 * The documents that known clients of the original service send (compatibility.md, "Configuration"), with other values.
 */
const ofTheRubyGem = `<?xml version="1.0" encoding="UTF-8"?>
<configuration>
  <name>Museum guide</name>
  <version>0.2.1</version>
  <type>oem</type>
  <tags>
    <tag>museum</tag>
  </tags>
  <locale>
    <keyboard-layout>french</keyboard-layout>
    <language>fr_FR.UTF-8</language>
    <timezone>
      <location>Europe/Paris</location>
    </timezone>
  </locale>
  <users type="array">
    <user>
      <uid>0</uid>
      <name>root</name>
      <password>secret</password>
      <group>root</group>
      <shell>/bin/bash</shell>
      <homedir>/root</homedir>
    </user>
    <user>
      <uid>1001</uid>
      <name>guide</name>
      <password>secret too</password>
      <group>users</group>
      <shell>/bin/bash</shell>
      <homedir>/home/guide</homedir>
    </user>
  </users>
  <databases type="array">
    <database>
      <type>pgsql</type>
      <users type="array">
        <user>
          <username>guide</username>
          <password>open sesame</password>
          <database-list>rooms, paintings</database-list>
        </user>
      </users>
    </database>
  </databases>
  <autostarts type="array">
    <autostart>
      <command>/usr/bin/guide</command>
      <enabled>true</enabled>
      <user type="array">
        <user>guide</user>
      </user>
    </autostart>
  </autostarts>
  <settings>
    <memory-size>1024</memory-size>
    <disk-size>4G</disk-size>
    <pae-enabled>false</pae-enabled>
    <automatic-login>guide</automatic-login>
  </settings>
  <lvm>
    <enabled>true</enabled>
    <volume-group>guideVG</volume-group>
    <volumes type="array">
      <volume>
        <path>/srv</path>
        <size>500M</size>
      </volume>
      <volume>
        <path>/var/log</path>
        <size>1G</size>
      </volume>
    </volumes>
  </lvm>
  <scripts>
    <boot>
      <enabled type="boolean">true</enabled>
      <script>#!/bin/sh
echo &lt;hi&gt;</script>
    </boot>
  </scripts>
</configuration>`;

const database = (inner: string) =>
  `<databases><database><type>pgsql</type><users><user><username>app</username>${inner}</user></users></database></databases>`;

describe("PUT configuration from existing clients", () => {
  it("accepts the Ruby gem's document with its oddities, declared as a form", async () => {
    const id = await createAppliance(tux);

    const answer = await tux.put(`/appliances/${id}/configuration`, ofTheRubyGem, "application/x-www-form-urlencoded");

    const { configuration } = await readXml(answer);
    expect(answer.status).toBe(200);
    expect(configuration).toMatchObject({
      name: "Museum guide",
      version: "0.2.1",
      tags: { "@count": "1", tag: "museum" },
      locale: { keyboard_layout: "french", timezone: { location: "Europe/Paris" } },
      firewall: { enabled: "true", open_port: "ssh" },
      users: { "@count": "2", user: [{ name: "root" }, { name: "guide", uid: "1001", password: "secret too" }] },
      databases: { database: { type: "pgsql", users: { user: { database_list: "rooms,paintings" } } } },
      autostarts: { autostart: { command: "/usr/bin/guide", enabled: "true", user: "guide" } },
      settings: { memory_size: "1024", disk_size: "4", automatic_login: "guide", swap_size: "512" },
      lvm: {
        volumes: {
          volume: [
            { size: "500", path: "/srv" },
            { size: "1024", path: "/var/log" },
          ],
        },
      },
      scripts: { boot: { enabled: "true", script: "#!/bin/sh\necho <hi>" }, build: { enabled: "false" } },
    });
  });

  it("accepts the Java library's, without content type, with classes and id", async () => {
    const id = await createAppliance(tux);
    const body = new TextEncoder().encode(
      fullDocument(id + 1)
        .replace('<tags count="2">', '<tags class="java.util.ArrayList">')
        .replace("<id>", '<id class="long">'),
    );
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` };

    const answer = await visit(`/api/v2/user/appliances/${id}/configuration`, { method: "PUT", body, headers });

    expect(await answer.text()).toBe(fullDocument(id));
  });

  it.each(["true", "1", "True", "TRUE"])("accepts %s as true", async (yes) => {
    const id = await createAppliance(tux);

    await putPortion(tux, id, `<settings><pae_enabled>${yes}</pae_enabled></settings>`);

    expect((await readConfiguration(tux, id)).settings.pae_enabled).toBe("true");
  });

  it("fills in missing uids, homes and existing passwords of users", async () => {
    const id = await createAppliance(tux);
    const names = ["root", "amal", "zoe"];
    const wanted = names.map((name) => `<user><name>${name}</name><uid/>`);
    await putPortion(
      tux,
      id,
      `<users>${wanted.map((user) => `${user}<password>old</password></user>`).join("")}</users>`,
    );

    await putPortion(tux, id, `<users>${wanted.map((user) => `${user}</user>`).join("")}</users>`);

    const { users } = await readConfiguration(tux, id);
    const common = { password: "old", shell: "/bin/bash" };
    expect(users.user).toEqual([
      { ...common, uid: "0", name: "root", group: "root", homedir: "/root" },
      { ...common, uid: "1000", name: "amal", group: "users", homedir: "/home/amal" },
      { ...common, uid: "1001", name: "zoe", group: "users", homedir: "/home/zoe" },
    ]);
  });

  it("fills in autostart defaults and existing database passwords", async () => {
    const id = await createAppliance(tux);
    await putPortion(tux, id, database("<password>p</password>"));

    await putPortion(
      tux,
      id,
      `${database("<database_list>a</database_list>")}
      <autostarts><autostart><command>/bin/true</command></autostart></autostarts>`,
    );

    const { databases, autostarts } = await readConfiguration(tux, id);
    expect(databases.database.users.user).toEqual({ username: "app", password: "p", database_list: "a" });
    expect(autostarts.autostart).toEqual({ command: "/bin/true", enabled: "true", user: "root" });
  });

  it("keeps line breaks of texts, and starts scripts at their first character", async () => {
    const id = await createAppliance(tux);

    await putPortion(
      tux,
      id,
      "<description>one&#13;\n\ntwo\n</description><scripts><boot><script>\n  <![CDATA[#!/bin/sh\necho a && b\n]]></script></boot></scripts>",
    );

    const { description, scripts } = (await rowOf(id)).configuration;
    expect([description, scripts.boot.script]).toEqual(["one\n\ntwo\n", "#!/bin/sh\necho a && b\n"]);
  });
});
