import { describe, expect, it } from "vitest";
import { imageTypes, type ImageType } from "#lib/contract/index";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "./support/facts.ts";

const cloudInit = { ...plain.settings, firstBoot: "cloud-init" as const };
const filesOf = (change: Partial<ImageFacts>) => descriptionFiles({ ...plain, settings: cloudInit, ...change });
const cloudOf = (change: Partial<ImageFacts>) => filesOf(change)["root/etc/cloud/cloud.cfg.d/95-kiln.cfg"];
const commandsOf = (change: Partial<ImageFacts>) =>
  (filesOf(change)["config.sh"] ?? "").split("\ntake_back_hosts\n")[1] ?? "";
const dhcp: ImageFacts["network"] = { type: "dhcp", hostname: "", ip: "", netmask: "", route: "", nameservers: [] };

describe("an image with cloud-init", () => {
  it.each<[ImageType, string]>([
    ["oem", "NoCloud, ConfigDrive"],
    ["oemiso", "NoCloud, ConfigDrive"],
    ["qcow2", "NoCloud, ConfigDrive, OpenStack"],
    ["ova", "NoCloud, ConfigDrive, OVF"],
    ["vhd", "NoCloud, ConfigDrive, Azure"],
    ["gce", "NoCloud, ConfigDrive, GCE"],
    ["ec2", "NoCloud, ConfigDrive, Ec2"],
  ])("of the type %s looks only where such a machine can find data", (imageType, sources) => {
    expect(cloudOf({ imageType })).toContain(`\ndatasource_list: [ ${sources}, None ]\n`);
  });

  it.each(["iso", "net", "oci", "wsl"] as const)("leaves the type %s as it is", (imageType) => {
    const none = descriptionFiles({ ...plain, imageType, network: dhcp });
    expect(filesOf({ imageType, network: dhcp })).toEqual(none);
  });

  it("exists for every disk", () => {
    const disks = imageTypes.filter((type) => !["iso", "net", "oci", "wsl"].includes(type));
    expect(disks.filter((imageType) => cloudOf({ imageType }) === undefined)).toEqual([]);
  });

  it("gets its network from cloud-init alone, or from the appliance alone", () => {
    expect(commandsOf({ network: dhcp })).toContain("leave_network_to_cloud_init\n");
    expect(commandsOf({ network: dhcp })).not.toContain("/network dhcp");
    expect(cloudOf({ network: dhcp })).not.toContain("network:");
    const manual: ImageFacts["network"] = { ...dhcp, type: "manual", ip: "192.0.2.10", netmask: "24" };
    expect(commandsOf({ network: manual })).toContain("192.0.2.10/24");
    expect(commandsOf({ network: manual })).not.toContain("leave_network");
    for (const type of ["manual", "ask_on_first_boot", "network_manager", "none"] as const) {
      expect(cloudOf({ network: { ...manual, type } }), type).toContain("\nnetwork: { config: disabled }\n");
    }
  });

  it("keeps the appliance's repositories", () => {
    expect(cloudOf({})).toContain("\napt: { preserve_sources_list: true }\n");
  });

  it("gives a cloud's keys to the first administrator, who keeps password and rights", () => {
    const user = { passwordHash: "*", homedir: "/home/a", shell: "/bin/sh", group: "users", uid: 1000 };
    const administrator = { ...user, name: "clerk", administrator: true };
    const users = [{ ...user, name: "root", uid: 0, administrator: true }, { ...user, name: "guest" }, administrator];
    expect(cloudOf({ users })).toMatch(/default_user:\n {4}name: clerk\n {4}lock_passwd: false\n {4}sudo: null\n$/);
    expect(cloudOf({ users: users.slice(0, 2) })).not.toContain("default_user");
  });
});
