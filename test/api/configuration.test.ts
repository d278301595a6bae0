import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { Configuration } from "#lib/configuration/stored";
import { appliances } from "#storage/schema";
import { signedIn } from "../support/client.ts";
import {
  db,
  documentOf,
  fullDocument,
  putPortion,
  readConfiguration,
  rowOf,
  storedText,
} from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";
import { readXml } from "../support/xml.ts";

const tux = await signedIn();

describe("GET configuration", () => {
  it("shows a template in the shortest form, without unset values", async () => {
    await createAppliance(tux);

    expect(await documentOf(tux, 1)).toBe(`<configuration>
  <id>1</id>
  <name>Tiny Linux 1.0, Just enough OS (JeOS)</name>
  <version>0.0.1</version>
  <type>oem</type>
  <locale>
    <keyboard_layout>english-us</keyboard_layout>
    <language>en_US.UTF-8</language>
    <timezone>
      <location>Europe/Berlin</location>
    </timezone>
  </locale>
  <network>
    <type>dhcp</type>
  </network>
  <firewall>
    <enabled>true</enabled>
    <open_port>ssh</open_port>
  </firewall>
  <users count="1">
    <user>
      <uid>0</uid>
      <name>root</name>
      <password>linux</password>
      <group>root</group>
      <shell>/bin/bash</shell>
      <homedir>/root</homedir>
    </user>
  </users>
  <eulas count="0">
  </eulas>
  <settings>
    <memory_size>256</memory_size>
    <disk_size>1</disk_size>
    <swap_size>512</swap_size>
    <pae_enabled>false</pae_enabled>
    <xen_host_mode_enabled>false</xen_host_mode_enabled>
    <cdrom_enabled>true</cdrom_enabled>
    <webyast_enabled>false</webyast_enabled>
    <live_installer_enabled>false</live_installer_enabled>
    <public_clonable>true</public_clonable>
    <runlevel>3</runlevel>
  </settings>
  <lvm>
    <enabled>false</enabled>
  </lvm>
  <scripts>
    <build>
      <enabled>false</enabled>
    </build>
    <boot>
      <enabled>false</enabled>
    </boot>
    <autoyast>
      <enabled>false</enabled>
    </autoyast>
  </scripts>
</configuration>
`);
  });

  it("shows a new clone like its template, except for id and name", async () => {
    const id = await createAppliance(tux);

    const { name, ...clone } = await readConfiguration(tux, id);
    const { name: _, ...template } = await readConfiguration(tux, 1);

    expect({ name, clone }).toEqual({ name: "Kiosk", clone: { ...template, id: String(id) } });
  });

  it("fills in fields that a row of an older version lacks", async () => {
    const id = await createAppliance(tux);
    const { locale, users, settings } = (await rowOf(id)).configuration;
    const { memorySizeMb, diskSizeMb } = settings;
    const before = await documentOf(tux, id);
    const old = JSON.parse(JSON.stringify({ users, locale, settings: { memorySizeMb, diskSizeMb } }));
    await db.update(appliances).set({ configuration: old }).where(eq(appliances.id, id));

    expect(await documentOf(tux, id)).toBe(before);
    expect((await putPortion(tux, id, "<tags><tag>old</tag></tags>")).status).toBe(200);
    const { configuration: stored } = await rowOf(id);
    expect(stored).toEqual(Configuration.parse(stored));
    expect(stored.tags).toEqual(["old"]);
  });

  it("shows unused network and LVM details only while they apply", async () => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, fullDocument(id));

    const off = "<network><type>dhcp</type></network><lvm><enabled>false</enabled></lvm>";
    const { configuration: without } = await readXml(await putPortion(tux, id, off));
    const on = "<network><type>manual</type></network><lvm><enabled>1</enabled></lvm>";
    const again = await putPortion(tux, id, on);

    expect([without.network, without.lvm]).toEqual([{ type: "dhcp" }, { enabled: "false" }]);
    expect(await again.text()).toBe(fullDocument(id));
  });
});

describe("PUT configuration", () => {
  it("returns the whole configuration, which GET then shows", async () => {
    const id = await createAppliance(tux);

    const answer = await tux.put(`/appliances/${id}/configuration`, fullDocument(id));

    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(fullDocument(id));
    expect(await documentOf(tux, id)).toBe(fullDocument(id));
    expect(await rowOf(id)).toMatchObject({ name: "Museum guide", version: "1.2.3", imageType: "iso" });
  });

  it.each([
    ["smallest", (id: number) => documentOf(tux, id)],
    ["full", async (id: number) => fullDocument(id)],
  ])("changes nothing if the %s form is sent back, disk size included", async (_form, make) => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, await make(id));
    const before = await storedText(id);

    const answer = await tux.put(`/appliances/${id}/configuration`, await documentOf(tux, id));

    expect(answer.status).toBe(200);
    expect(await storedText(id)).toBe(before);
  });

  it("keeps the template's exact disk size until it is changed", async () => {
    const id = await createAppliance(tux);
    const diskAfter = async (size: string) => {
      await putPortion(tux, id, `<settings><disk_size>${size}</disk_size></settings>`);
      return (await rowOf(id)).configuration.settings.diskSizeMb;
    };

    expect(await diskAfter("1")).toBe(512);
    expect(await diskAfter("1G")).toBe(512);
    expect(await diskAfter("1024M")).toBe(1024);
    expect(await diskAfter("16")).toBe(16 * 1024);
    expect(await diskAfter("512M")).toBe(512);
  });

  it("changes only what is sent, even inside a section", async () => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, fullDocument(id));
    const { lastEditedAt } = await rowOf(id);
    await db
      .update(appliances)
      .set({ lastEditedAt: new Date(lastEditedAt.getTime() - 60_000) })
      .where(eq(appliances.id, id));

    const portion = `<settings><memory_size>2048</memory_size></settings>
      <firewall><enabled>true</enabled></firewall>
      <locale><language>fr_CA.UTF-8</language></locale>
      <network><hostname>guide2</hostname></network>
      <lvm><volume_group>otherVG</volume_group></lvm>
      <scripts><boot><enabled>true</enabled></boot></scripts>
      <tags><tag>one</tag></tags>`;
    const answer = await putPortion(tux, id, portion);

    const wanted = fullDocument(id)
      .replace("<memory_size>1024<", "<memory_size>2048<")
      .replace("<firewall>\n    <enabled>false<", "<firewall>\n    <enabled>true<")
      .replace("fr_FR", "fr_CA")
      .replace("guide1", "guide2")
      .replace("guideVG", "otherVG")
      .replace("<boot>\n      <enabled>false<", "<boot>\n      <enabled>true<")
      .replace(/<tags[^]*<\/tags>/, '<tags count="1">\n    <tag>one</tag>\n  </tags>');
    expect(await answer.text()).toBe(wanted);
    expect((await rowOf(id)).lastEditedAt.getTime()).toBeGreaterThanOrEqual(lastEditedAt.getTime());
  });

  it("keeps the host name with every type of network; only JSON shows it where the original API does not", async () => {
    const id = await createAppliance(tux);
    const answer = await putPortion(tux, id, "<network><type>dhcp</type><hostname>webshop</hostname></network>");

    expect(Object.keys((await readXml(answer)).configuration.network)).toEqual(["type"]);
    const json = await tux.get(`/appliances/${id}/configuration`, { headers: { accept: "application/json" } });
    expect(await json.json()).toMatchObject({ configuration: { network: { type: "dhcp", hostname: "webshop" } } });
  });

  it("clears values that are sent empty", async () => {
    const id = await createAppliance(tux);
    await tux.put(`/appliances/${id}/configuration`, fullDocument(id));

    const portion = `<description/><website></website><tags/><eulas count="0"> </eulas><databases/><autostarts/>
      <firewall><open_port/></firewall><settings><automatic_login/></settings>
      <network><hostname/><route/><nameservers/></network>
      <lvm><volumes/></lvm><scripts><build><script/></build></scripts>`;
    const { configuration } = await readXml(await putPortion(tux, id, portion));

    expect(Object.keys(configuration).join(" ")).toBe(
      "id name version type locale network firewall users eulas settings lvm scripts",
    );
    expect(configuration).toMatchObject({ firewall: { enabled: "false" }, eulas: { "@count": "0" } });
    expect(configuration.settings.automatic_login).toBeUndefined();
    expect(Object.keys(configuration.network)).toEqual(["type", "ip", "netmask"]);
    expect(Object.keys(configuration.lvm)).toEqual(["enabled", "volume_group"]);
    expect(configuration.scripts.build).toEqual({ enabled: "true" });
  });
});
