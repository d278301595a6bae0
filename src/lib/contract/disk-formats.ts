import { raw, vmdk, streamedVmdk, qcow2, vhd, vhdx, vdi, gce } from "./disk-containers.ts";
import type { ImageFormat } from "./image-format.ts";
import { addBox, inQemu, onDisk, qemu, unpack } from "./image-ways.ts";

/**
 * In the texts, `{file}` is the download, `{name}` the folder in it, `{disk}` the path of the disk in that folder,
 * `{arch}` Amazon's name of the architecture, and `{qemu}` the start of the command that runs such a machine.
 */
export const diskFormats = {
  oem: {
    label: "disk or USB stick",
    icon: "usb",
    product: "disk",
    ignition: "qemu",
    container: raw,
    what: "A tar archive with a raw disk image, for a disk, a USB stick or a virtual machine.",
    ways: [
      unpack,
      onDisk("Write it to a disk or a USB stick", "{disk}"),
      inQemu("-drive file={disk},format=raw,if=virtio"),
    ],
  },
  qcow2: {
    label: "KVM, Proxmox, OpenStack",
    icon: "server",
    product: "disk",
    ignition: "qemu",
    datasource: "OpenStack",
    container: qcow2,
    what: "A tar archive with a disk (qcow2) for KVM, libvirt, Proxmox and OpenStack.",
    ways: [
      unpack,
      {
        title: "Start it in libvirt (KVM)",
        lines: [
          "sudo mv {disk} /var/lib/libvirt/images/",
          "virt-install --import --name {name} --memory 2048 --osinfo detect=on,require=off --disk /var/lib/libvirt/images/{name}",
        ],
      },
      {
        title: "Import it into Proxmox",
        note: "Replace 100 with the number of a virtual machine, and local-lvm with a storage of yours.",
        lines: ["qm importdisk 100 {disk} local-lvm"],
      },
      {
        title: "Upload it to OpenStack",
        lines: ["openstack image create --disk-format qcow2 --container-format bare --file {disk} {name}"],
      },
      inQemu("-drive file={disk},format=qcow2,if=virtio"),
    ],
  },
  vdi: {
    label: "VirtualBox",
    icon: "monitor",
    product: "disk",
    container: vdi,
    bus: "ide",
    what: "A tar archive with a disk (VDI) for VirtualBox.",
    ways: [
      unpack,
      {
        title: "Start it in VirtualBox",
        lines: [
          "VBoxManage createvm --name {name} --ostype Linux26_64 --register",
          "VBoxManage modifyvm {name} --memory 2048 --nic1 nat",
          "VBoxManage storagectl {name} --name IDE --add ide",
          "VBoxManage storageattach {name} --storagectl IDE --port 0 --device 0 --type hdd --medium {disk}",
          "VBoxManage startvm {name}",
        ],
      },
      inQemu("-drive file={disk},format=vdi,if=ide"),
    ],
  },
  vhdx: {
    label: "Hyper-V",
    icon: "monitor",
    product: "disk",
    container: vhdx,
    bus: "ide",
    what: "A tar archive with a disk (VHDX) for Microsoft Hyper-V, first generation.",
    ways: [
      unpack,
      {
        title: "Start it in Hyper-V, in PowerShell",
        lines: [
          'New-VM -Name "{name}" -Generation 1 -MemoryStartupBytes 2GB -VHDPath "{disk}"',
          'Start-VM -Name "{name}"',
        ],
      },
      inQemu("-drive file={disk},format=vhdx,if=ide"),
    ],
  },
  vmx: {
    label: "VMware",
    icon: "monitor",
    product: "disk",
    container: vmdk,
    machine: "vmx",
    bus: "ide",
    what: "A tar archive with a disk (VMDK) and the description of a virtual machine for VMware.",
    ways: [
      unpack,
      { title: "Start it in VMware", lines: ["vmplayer {name}/{name}.vmx"] },
      inQemu("-drive file={disk},format=vmdk,if=ide"),
    ],
  },
  ova: {
    label: "VirtualBox, VMware, vSphere",
    icon: "monitor",
    product: "disk",
    datasource: "OVF",
    container: streamedVmdk,
    alone: "disk.vmdk",
    machine: "ova",
    plainTar: "ova",
    bus: "ide",
    what: "An OVF package with a disk (VMDK) and the description of a virtual machine, for VirtualBox, VMware and vSphere.",
    ways: [
      {
        title: "Import it into VirtualBox",
        lines: ["VBoxManage import {file} --vsys 0 --vmname {name}", "VBoxManage startvm {name}"],
      },
      {
        title: "Deploy it to vSphere or ESXi",
        note: "Replace HOST with your server.",
        lines: ["ovftool --name={name} --powerOn {file} vi://root@HOST/"],
      },
      {
        title: "Start it in QEMU",
        lines: [
          "tar -xf {file} {disk}",
          "qemu-img convert -O qcow2 {disk} {name}.qcow2",
          `${qemu} -drive file={name}.qcow2,format=qcow2,if=ide`,
        ],
      },
    ],
  },
  vagrant_libvirt: {
    label: "Vagrant with libvirt",
    icon: "box",
    product: "disk",
    ignition: "qemu",
    container: qcow2,
    alone: "box.img",
    machine: "libvirt box",
    what: "A box of Vagrant with a disk (qcow2), for its provider libvirt.",
    ways: [
      addBox("libvirt"),
      {
        title: "Start it in QEMU",
        lines: ["tar -xzf {file} {disk}", `${qemu} -drive file={disk},format=qcow2,if=virtio`],
      },
    ],
  },
  vagrant_virtualbox: {
    label: "Vagrant with VirtualBox",
    icon: "box",
    product: "disk",
    container: streamedVmdk,
    alone: "disk.vmdk",
    machine: "VirtualBox box",
    bus: "ide",
    what: "A box of Vagrant with an OVF machine and its disk (VMDK), for its provider VirtualBox.",
    ways: [
      addBox("virtualbox"),
      {
        title: "Start it in QEMU",
        lines: ["tar -xzf {file} {disk}", `${qemu} -snapshot -drive file={disk},format=vmdk,if=ide`],
      },
    ],
  },
  xen: {
    label: "Xen",
    icon: "server",
    product: "disk",
    container: raw,
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
  vhd: {
    label: "Azure",
    icon: "cloud",
    product: "disk",
    datasource: "Azure",
    container: vhd,
    what: "A tar archive with a disk (VHD of fixed size) for Microsoft Azure, first generation.",
    ways: [
      unpack,
      {
        title: "Upload it to Azure",
        note: "Replace ACCOUNT with a storage account of yours.",
        lines: [
          "az storage container create --account-name ACCOUNT --name images",
          "az storage blob upload --account-name ACCOUNT --container-name images --type page --file {disk} --name {name}",
        ],
      },
      {
        title: "Start it in Azure",
        note: "Replace GROUP with a resource group of yours.",
        lines: [
          "az disk create --resource-group GROUP --name {name} --os-type Linux --hyper-v-generation V1 --source https://ACCOUNT.blob.core.windows.net/images/{name}",
          "az vm create --resource-group GROUP --name kiln --attach-os-disk {name} --os-type linux",
        ],
      },
      inQemu("-drive file={disk},format=vpc,if=virtio"),
    ],
  },
  gce: {
    label: "Google Cloud",
    icon: "cloud",
    product: "disk",
    datasource: "GCE",
    container: gce,
    alone: "disk.raw",
    what: "A tar archive with a raw disk of whole GiB, as Google Compute Engine imports it.",
    ways: [
      {
        title: "Import it as an image",
        note: "Replace BUCKET with a bucket of yours.",
        lines: [
          "gcloud storage cp {file} gs://BUCKET/",
          "gcloud compute images create kiln --source-uri gs://BUCKET/{file}",
        ],
      },
      {
        title: "Start it in Google Cloud",
        lines: ["gcloud compute instances create kiln --image kiln"],
      },
      unpack,
      inQemu("-drive file={disk},format=raw,if=virtio"),
    ],
  },
  ec2: {
    label: "Amazon EC2",
    icon: "cloud",
    product: "disk",
    datasource: "Ec2",
    container: raw,
    what: "A tar archive with a raw disk image for Amazon EC2 (HVM).",
    ways: [
      unpack,
      {
        title: "Import it as a snapshot",
        note: "Replace BUCKET with a bucket of yours. Amazon's role vmimport must be allowed to read it.",
        lines: [
          "aws s3 cp {disk} s3://BUCKET/{name}.raw",
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
} satisfies Readonly<Record<string, ImageFormat>>;
