import { stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { sha256OfFile } from "../file-hash.ts";
import type { DescribedMachine, Machine } from "./machine.ts";

/**
 * Describes a virtual machine in OVF 1.1 (DMTF DSP0243), with the checksums of its package. Returns the files' names,
 * in the package's order.
 */
export async function writeOvf(described: DescribedMachine): Promise<string[]> {
  const { dir, disk } = described;
  const name = machineName(described);
  const [descriptor, manifest] = [`${name}.ovf`, `${name}.mf`];
  await writeFile(join(dir, descriptor), ovf(described, (await stat(disk)).size));
  const lines = [descriptor, basename(disk)].map(
    async (file) => `SHA256(${file})= ${await sha256OfFile(join(dir, file))}\n`,
  );
  await writeFile(join(dir, manifest), (await Promise.all(lines)).join(""));
  return [descriptor, manifest];
}

/** A download that is named after its type ends with `.ova`. In the names of its files, that would be in the middle. */
const machineName = ({ name }: Pick<DescribedMachine, "name">): string => name.replace(/\.ova$/, "");

const dmtf = "http://schemas.dmtf.org";

/** The name of a download and the numbers contain nothing that XML must escape. */
export const ovf = ({ disk, rawSize, machine, ...named }: DescribedMachine, diskFileSize: number): string => {
  const name = machineName(named);
  return `<?xml version="1.0" encoding="UTF-8"?>
<Envelope ovf:version="1.0" xmlns="${dmtf}/ovf/envelope/1" xmlns:ovf="${dmtf}/ovf/envelope/1" xmlns:rasd="${dmtf}/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData" xmlns:vssd="${dmtf}/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData">
  <References>
    <File ovf:id="file1" ovf:href="${basename(disk)}" ovf:size="${diskFileSize}"/>
  </References>
  <DiskSection>
    <Info>The disk of the system</Info>
    <Disk ovf:diskId="disk1" ovf:fileRef="file1" ovf:capacity="${rawSize}" ovf:format="http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"/>
  </DiskSection>
  <NetworkSection>
    <Info>The networks of the system</Info>
    <Network ovf:name="NAT">
      <Description>A network with addresses by DHCP</Description>
    </Network>
  </NetworkSection>
  <VirtualSystem ovf:id="${name}">
    <Info>A virtual machine</Info>
    <Name>${name}</Name>
    <OperatingSystemSection ovf:id="${machine.arch === "i586" ? 36 : 101}">
      <Info>The operating system</Info>
      <Description>Linux</Description>
    </OperatingSystemSection>
    <VirtualHardwareSection>
      <Info>The hardware that the system needs</Info>
      <System>
        <vssd:ElementName>Virtual Hardware Family</vssd:ElementName>
        <vssd:InstanceID>0</vssd:InstanceID>
        <vssd:VirtualSystemIdentifier>${name}</vssd:VirtualSystemIdentifier>
        <vssd:VirtualSystemType>vmx-09</vssd:VirtualSystemType>
      </System>
${hardware(machine).map(itemElement).join("\n")}
    </VirtualHardwareSection>
  </VirtualSystem>
</Envelope>
`;
};

/** The schema requires the elements in alphabetical order. */
const itemElement = (item: Readonly<Record<string, string>>, index: number): string => {
  const elements = Object.entries({ ...item, InstanceID: String(index + 1) }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = elements.map(([key, value]) => `        <rasd:${key}>${value}</rasd:${key}>`);
  return ["      <Item>", ...lines, "      </Item>"].join("\n");
};

/** The numbers of resource types are those of CIM_ResourceAllocationSettingData. The disk is on IDE, as for VMware. */
const hardware = ({ memoryMb, hasCdrom }: Machine): Readonly<Record<string, string>>[] => [
  { ElementName: "1 virtual CPU", ResourceType: "3", VirtualQuantity: "1" },
  {
    AllocationUnits: "byte * 2^20",
    ElementName: `${memoryMb} MB of memory`,
    ResourceType: "4",
    VirtualQuantity: String(memoryMb),
  },
  { Address: "0", ElementName: "IDE controller 0", ResourceSubType: "PIIX4", ResourceType: "5" },
  { AddressOnParent: "0", ElementName: "Disk", HostResource: "ovf:/disk/disk1", Parent: "3", ResourceType: "17" },
  {
    AutomaticAllocation: "true",
    Connection: "NAT",
    ElementName: "Ethernet adapter",
    ResourceSubType: "E1000",
    ResourceType: "10",
  },
  ...(hasCdrom
    ? [{ AddressOnParent: "1", AutomaticAllocation: "false", ElementName: "CD-ROM", Parent: "3", ResourceType: "15" }]
    : []),
];
