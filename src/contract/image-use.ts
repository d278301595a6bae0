import type { ImageType } from "./image-type.ts";

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
 * Of each image type. `{file}` is the download, `{name}` the folder in it and its files, which the agent makes
 * (builder-agent/src/build/pack.ts), `{arch}` the machine in Amazon's words.
 */
const uses: Readonly<Record<ImageType, ImageUse>> = {
  oem: {
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
    what: "A live medium. It runs without being installed, and forgets its changes when it stops.",
    ways: [onDisk("Write it to a USB stick", "{file}"), inQemu("-cdrom {file}")],
  },
  vmx: {
    what: "A tar archive with a disk (VMDK) and the description of a virtual machine for VMware.",
    ways: [
      unpack,
      { title: "Start it in VMware", lines: ["vmplayer {name}/{name}.vmx"] },
      inQemu("-drive file={name}/{name}.vmdk,format=vmdk,if=ide"),
    ],
  },
  xen: {
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
};

/** With the real names. The agent gives files names that a shell needs no quotes for. */
export function imageUse({ imageType, fileName }: { imageType: ImageType; fileName: string }): ImageUse {
  const names: Readonly<Record<string, string>> = {
    file: fileName,
    name: fileName.replace(/\.(?:tar\.gz|iso)$/, ""),
    arch: /\.i[56]86-[^-]*$/.test(fileName) ? "i386" : "x86_64",
  };
  const named = (text: string) => text.replace(/\{(file|name|arch)\}/g, (whole, key: string) => names[key] ?? whole);
  const { what, ways } = uses[imageType];
  return { what, ways: ways.map((way) => ({ ...way, lines: way.lines.map(named) })) };
}
