/** One way to start an image: the lines of a shell, in order. */
export interface Way {
  title: string;
  /** What to know before, such as what is lost. */
  note?: string;
  lines: readonly string[];
}

/** What the downloaded file is, and how to start the system in it. */
export interface ImageUse {
  what: string;
  ways: readonly Way[];
}

/** What an image is, whatever contains it: a disk, a medium that runs or installs the system, or files for a network boot. */
export type Product = "disk" | "live" | "installer" | "network";

/** The file format of a disk. */
export type Container = "raw" | "vmdk";

/** An image type (the API's `image_type`). Everything that depends on the type is in its record, or in that of its product. */
export interface ImageFormat extends ImageUse {
  /** For people: what it is for. */
  label: string;
  /** On pages (src/web/parts/icon-names.ts). */
  icon: "usb" | "disc" | "monitor" | "server" | "cloud" | "network" | "save";
  product: Product;
  /** Only disks have one. */
  container?: Container;
  /** The configuration file of a virtual machine that lies beside the disk: for VMware, or for `xl` of Xen. */
  machine?: "vmx" | "xl";
}

/** What all image types with the same product have in common. */
interface ProductFacts {
  /** The type that KIWI builds. */
  kiwi: "oem" | "iso" | "kis";
  /** The image types whose tools an agent needs to build it. */
  needs: readonly ("oem" | "iso" | "net")[];
  /** The system gets a disk of the size that the appliance chooses. Other images are as large as their contents. */
  hasDisk: boolean;
  /** The download is one medium (`.iso`), not an archive. */
  isMedium: boolean;
  /** It has a boot loader, so that a machine, and a testdrive, can start from it alone. */
  startsAlone: boolean;
  /** What its boot loader for UEFI needs from the agent. */
  efi: readonly ("UEFI disks" | "UEFI media")[];
}

/** KIWI mounts the EFI partition of a disk, and fills that of a medium without a mount. */
const products: Readonly<Record<Product, ProductFacts>> = {
  disk: { kiwi: "oem", needs: ["oem"], hasDisk: true, isMedium: false, startsAlone: true, efi: ["UEFI disks"] },
  live: { kiwi: "iso", needs: ["iso"], hasDisk: false, isMedium: true, startsAlone: true, efi: ["UEFI media"] },
  installer: {
    kiwi: "oem",
    needs: ["oem", "iso"],
    hasDisk: true,
    isMedium: true,
    startsAlone: true,
    efi: ["UEFI disks", "UEFI media"],
  },
  network: { kiwi: "kis", needs: ["net"], hasDisk: false, isMedium: false, startsAlone: false, efi: [] },
};

const unpack: Way = { title: "Unpack it", lines: ["tar -xzf {file}"] };

const overwritten = "Everything on that disk is lost. lsblk lists your disks: replace sdX with the right one.";

const onDisk = (title: string, path: string): Way => ({
  title,
  note: overwritten,
  lines: [`sudo dd if=${path} of=/dev/sdX bs=4M conv=fsync status=progress`],
});

/** With hardware virtualisation where there is some. Five-level page tables only make emulation slower. */
const qemu = "qemu-system-x86_64 -accel kvm -accel tcg -cpu max,la57=off -m 2048";

const inQemu = (drive: string): Way => ({ title: "Start it in QEMU", lines: [`${qemu} ${drive}`] });

/**
 * In the texts, `{file}` is the download, `{name}` the folder in it and its files, which the agent makes
 * (builder-agent/src/build/pack.ts), `{arch}` the machine in Amazon's words.
 */
const formats = {
  oem: {
    label: "disk or USB stick",
    icon: "usb",
    product: "disk",
    container: "raw",
    what: "A tar archive with a raw disk image, for a disk, a USB stick or a virtual machine.",
    ways: [
      unpack,
      onDisk("Write it to a disk or a USB stick", "{name}/{name}.raw"),
      inQemu("-drive file={name}/{name}.raw,format=raw,if=virtio"),
      {
        title: "Convert it for another virtual machine",
        note: "qcow2 is for libvirt and Proxmox, vdi for VirtualBox, vpc for Hyper-V.",
        lines: ["qemu-img convert -f raw -O qcow2 {name}/{name}.raw {name}.qcow2"],
      },
    ],
  },
  iso: {
    label: "live medium",
    icon: "disc",
    product: "live",
    what: "A live medium. It runs without being installed, and forgets its changes when it stops.",
    ways: [onDisk("Write it to a USB stick", "{file}"), inQemu("-cdrom {file}")],
  },
  vmx: {
    label: "VMware",
    icon: "monitor",
    product: "disk",
    container: "vmdk",
    machine: "vmx",
    what: "A tar archive with a disk (VMDK) and the description of a virtual machine for VMware.",
    ways: [
      unpack,
      { title: "Start it in VMware", lines: ["vmplayer {name}/{name}.vmx"] },
      inQemu("-drive file={name}/{name}.vmdk,format=vmdk,if=ide"),
    ],
  },
  xen: {
    label: "Xen",
    icon: "server",
    product: "disk",
    container: "raw",
    machine: "xl",
    what: "A tar archive with a raw disk image and the configuration of a Xen guest (HVM).",
    ways: [
      unpack,
      {
        title: "Start it in Xen, from the folder of the disk",
        lines: ["cd {name}", "sudo xl create {name}.cfg", "sudo xl console {name}"],
      },
    ],
  },
  ec2: {
    label: "Amazon EC2",
    icon: "cloud",
    product: "disk",
    container: "raw",
    what: "A tar archive with a raw disk image for Amazon EC2 (HVM).",
    ways: [
      unpack,
      {
        title: "Import it as a snapshot",
        note: "Replace BUCKET with a bucket of yours. Amazon's role vmimport must be allowed to read it.",
        lines: [
          "aws s3 cp {name}/{name}.raw s3://BUCKET/{name}.raw",
          'aws ec2 import-snapshot --disk-container "Format=RAW,UserBucket={S3Bucket=BUCKET,S3Key={name}.raw}"',
          "aws ec2 describe-import-snapshot-tasks",
        ],
      },
      {
        title: "Make a machine image (AMI) of the snapshot",
        note: "When the import is completed, it shows the snapshot's id: replace SNAPSHOT with it.",
        lines: [
          "aws ec2 register-image --name {name} --architecture {arch} --virtualization-type hvm --ena-support " +
            '--root-device-name /dev/xvda --block-device-mappings "DeviceName=/dev/xvda,Ebs={SnapshotId=SNAPSHOT}"',
        ],
      },
    ],
  },
  net: {
    label: "network boot",
    icon: "network",
    product: "network",
    what: "A tar archive with a kernel, an initial RAM disk and a packed root, for machines that start from a network.",
    ways: [
      unpack,
      {
        title: "Serve it by TFTP and HTTP",
        note:
          "Replace 192.0.2.10 with the address of your web server. The TFTP server also needs pxelinux.0 and ldlinux.c32, " +
          "and your DHCP server must name it.",
        lines: [
          "sed -i s/SERVER/192.0.2.10/ {name}/pxelinux.cfg/default",
          "sudo cp -r {name}/linux {name}/initrd {name}/pxelinux.cfg /srv/tftp/",
          "sudo cp {name}/{name}.squashfs /var/www/html/",
        ],
      },
      {
        title: "Try it in QEMU",
        lines: [
          "python3 -m http.server --bind 127.0.0.1 --directory {name} 8000 &",
          `${qemu} -nic user,model=virtio-net-pci -kernel {name}/linux -initrd {name}/initrd -append "root=live:http://10.0.2.2:8000/{name}.squashfs ` +
            'ip=dhcp rd.neednet=1 rd.live.overlay.overlayfs=1 console=tty0"',
        ],
      },
    ],
  },
  oemiso: {
    label: "installer",
    icon: "save",
    product: "installer",
    what: "An installation medium. It writes the system to the first disk of the machine that starts from it, without asking.",
    ways: [
      onDisk("Write it to a USB stick, and start the machine from that", "{file}"),
      {
        title: "Install it in QEMU",
        lines: [
          "qemu-img create -f qcow2 disk.qcow2 20G",
          `${qemu} -drive file=disk.qcow2,format=qcow2,if=virtio -cdrom {file}`,
        ],
      },
    ],
  },
} satisfies Readonly<Record<string, ImageFormat>>;

type ImageType = keyof typeof formats;

export const imageFormats: Readonly<Record<ImageType, ImageFormat>> = formats;

/** All that agents can build, in the order in which pages and messages list them. */
export const imageTypes = Object.keys(formats) as ImageType[];

export const productOf = (type: ImageType): ProductFacts => products[imageFormats[type].product];
