import { fileSystems } from "#lib/contract/file-systems";
import { weeklyWindow } from "#lib/configuration/weekly-window";
import { bool, fields, int, megabytes, oneOf, text } from "#lib/wire/field";
import { readSize } from "#lib/wire/leaf";
import type { XmlNode } from "#lib/wire/read-xml";

/* The machine of an image, its disk, and how it starts. */

const ofMachine = "The machine that runs an image decides it.";

/** The programs that can configure a machine when it boots for the first time. */
export const firstBoots = ["none", "cloud-init", "ignition"] as const;

/** The updates that a machine installs on its own. */
export const automaticUpdates = ["none", "security", "all"] as const;

/** The ways to open a machine's encrypted root. */
export const diskEncryptions = ["none", "passphrase", "tpm", "tang"] as const;

/** The place of a machine's swap space. */
const swapPlaces = ["file", "partition"] as const;

/** When a version may be published. */
const publishConditions = ["always", "checked"] as const;

/** The newer versions for which the service builds the images again. */
const automaticBuilds = ["never", "security", "all"] as const;

/** Exactly these elements: clients reject any other. */
export const settings = fields({
  memory_size: megabytes("memorySizeMb", 512)
    .range(64, 65_536, "MB")
    .asked("Memory", { page: "machine", hint: "For testdrives and virtual machines." })
    .notImported(ofMachine),
  disk_size: int("diskSizeMb", 4)
    .shownAs(gigabytes)
    .readInto(diskSize)
    .asked("Disk", { page: "machine", unit: "GB", hint: "The size of the image's disk." }),
  file_system: oneOf("fileSystem", fileSystems, "xfs")
    .inXmlWhen(() => false) // see above
    .initially("ext4")
    .asked("File system of the root", {
      page: "machine",
      hint: "A testdrive of ext4 shows which files have changed. The packages for the others are added to the image.",
      options: fileSystems.map((name) => [name, name] as const),
      ofBase: "fileSystem",
    }),
  swap_size: megabytes("swapSizeMb", 0).range(0, 65_536, "MB").initially(512).asked("Swap", {
    page: "machine",
    hint: "0: none.",
  }),
  swap_in: oneOf("swapIn", swapPlaces, "partition")
    .inXmlWhen(() => false) // see above
    .initially("file")
    .asked("Swap is", {
      page: "machine",
      hint: "A partition takes its size from the disk of the image. On a disk with LVM, it is a volume.",
      options: [
        ["file", "a file, made at the first boot if there is room"],
        ["partition", "a partition"],
      ],
    }),
  pae_enabled: bool("paeEnabled", false)
    .initially(false)
    .notAsked("Only in the specification: the selected kernel decides it, and only 32-bit kernels differ.")
    .notImported("A description contains the kernel itself."),
  xen_host_mode_enabled: bool("xenHostModeEnabled", false)
    .initially(false)
    .notAsked("Only in the specification: it changes a warning and a note. The selected packages make a Xen host."),
  cdrom_enabled: bool("cdromEnabled", true)
    .initially(true)
    .asked("CD drive", { page: "machine", hint: "For a virtual machine in VMware." })
    .notImported(ofMachine),
  webyast_enabled: bool("webyastEnabled", false)
    .initially(false)
    .notAsked("Only in the specification: no present distribution has WebYaST."),
  live_installer_enabled: bool("liveInstallerEnabled", false)
    .initially(false)
    .notAsked("Only in the specification: it adds a note. An image of the type oemiso installs."),
  public_clonable: bool("publicClonable", true)
    .initially(true)
    .asked("Others may clone it from the gallery", {
      page: "general",
      hint: "Applies to the versions that you publish from now on.",
    })
    .notImported("Only the gallery uses it."),
  publish_when: oneOf("publishWhen", publishConditions, "checked")
    .inXmlWhen(() => false) // see above
    .initially("always")
    .asked("A version may be published", {
      page: "checks",
      hint: "Kiln refuses to publish a version if an image of it has not passed the checks below.",
      options: [
        ["always", "always"],
        ["checked", "only if its images have passed the checks"],
      ],
    })
    .notImported("Only the gallery uses it."),
  automatic_builds: oneOf("automaticBuilds", automaticBuilds, "security")
    .inXmlWhen(() => false) // see above
    .initially("never")
    .asked("Kiln builds the images again", {
      page: "checks",
      hint:
        "At most once a day, with the same settings and newer packages. If the checks below have passed, automatic channels " +
        "get the new version.",
      options: [
        ["never", "never"],
        ["security", "for security updates"],
        ["all", "for all newer versions"],
      ],
    })
    .notImported("Only the service uses it."),
  automatic_builds_at: text("automaticBuildsAt", "sat,sun 02:00-05:00")
    .unlessEmpty()
    .inXmlWhen(() => false) // see above
    .initially("")
    .like(weeklyWindow.pattern, weeklyWindow.why)
    .asked("It begins to build them at", {
      page: "checks",
      hint: "Days and hours in UTC, such as sat,sun 02:00-05:00 or mon-fri 22:00-04:00. Empty: at any time.",
    })
    .notImported("Only the service uses it."),
  runlevel: int("runlevel", 3)
    .range(1, 5)
    .initially(3)
    .asked("Starts with", {
      page: "startup",
      hint: "A desktop starts only if its packages are installed.",
      options: [
        ["3", "a text console"],
        ["5", "a desktop"],
      ],
    }),
  automatic_login: text("automaticLogin", "clerk")
    .unlessEmpty()
    .initially("")
    .asked("Log this user in without a password", { page: "startup", hint: "Empty: no one." }),
  ssh_passwords: text("sshPasswords", "never")
    .unlessEmpty()
    .inXmlWhen(() => false) // see above
    .initially("")
    .like(/^(always|never)?$/, "must be always, never or empty")
    .asked("Passwords are accepted over SSH", {
      page: "users",
      hint: "“Always” includes root. Without a choice and a key, the image's SSH server decides. A password always works at the machine's own console.",
      options: [
        ["", "unless a user has an SSH key"],
        ["never", "never"],
        ["always", "always"],
      ],
    }),
  first_boot: oneOf("firstBoot", firstBoots, "cloud-init")
    .inXmlWhen(() => false) // see above
    .initially("none")
    .asked("At the first boot, a machine is configured by", {
      page: "startup",
      hint:
        "cloud-init sets the host name, users with their SSH keys, and the network, as the cloud or a disk named CIDATA says. " +
        "It grows the root to the whole disk. Ignition writes the files, users and units that a machine of QEMU gives it, before " +
        "the system starts. The packages are added to the image.",
      options: [
        ["none", "nothing: all machines are like the image"],
        ["cloud-init", "cloud-init"],
        ["ignition", "Ignition"],
      ],
      ofBase: "firstBoot",
    }),
  automatic_updates: oneOf("automaticUpdates", automaticUpdates, "security")
    .inXmlWhen(() => false) // see above
    .initially("none")
    .asked("A machine installs on its own", {
      page: "startup",
      hint: "Once a day. The packages for it are added to the image.",
      options: [
        ["none", "no updates"],
        ["security", "security updates"],
        ["all", "all updates of the appliance's repositories"],
      ],
      ofBase: "automaticUpdates",
    }),
  updates_reboot_at: text("updatesRebootAt", "04:00")
    .inXmlWhen(() => false) // see above
    .initially("")
    .like(/^(([01]\d|2[0-3]):[0-5]\d)?$/, "must be a time from 00:00 to 23:59, or empty")
    .asked("It restarts after updates at", {
      page: "startup",
      hint: "Such as 04:00, in the appliance's time zone, and only if an update needs it, such as a new kernel. Empty: never.",
      ofBase: "automaticUpdates",
      usedWith: "updates",
    }),
  update_uploads: bool("updateUploads", true)
    .inXmlWhen(() => false) // see above
    .initially(false)
    .asked("Machines find newer versions of the packages that you uploaded", {
      page: "startup",
      hint:
        "The image gets a read-only address of your user repository. So everyone who has the image can read all packages that " +
        "you uploaded for its base system.",
    })
    .notImported("Its owner decides who may read uploads."),
  disk_encryption: oneOf("diskEncryption", diskEncryptions, "tang")
    .inXmlWhen(() => false) // see above
    .initially("none")
    .asked("A machine's disk is", {
      page: "machine",
      hint:
        "Each machine encrypts its root at the first boot, with its own key. The image itself has neither a key nor " +
        "encrypted data. The packages for it are added to the image.",
      options: [
        ["none", "not encrypted"],
        ["passphrase", "encrypted: it asks for a passphrase at each boot"],
        ["tpm", "encrypted: its TPM 2.0 opens it"],
        ["tang", "encrypted: a key server (tang) in its network opens it"],
      ],
      ofBase: "diskEncryption",
    }),
  tang_server: text("tangServer", "http://tang.example.org:7500")
    .unlessEmpty()
    .inXmlWhen(() => false) // see above
    .initially("")
    .like(
      /^(?!.{257})(http:\/\/([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(\/[\w.~-]+)*)?$/,
      "must begin with http://, followed by a name or an IP address and perhaps a port, such as http://tang.example.org:7500, or be empty",
    )
    .asked("Address of the key server", {
      page: "machine",
      hint: "As a machine reaches it when it starts, with an address by DHCP.",
      ofBase: "diskEncryption",
      usedWith: "tang",
    }),
  tang_thumbprint: text("tangThumbprint", "9gmuYlPdiWuNuwA0CmoKMYTfxpvrsPFyPnXZaPMGKOM")
    .unlessEmpty()
    .inXmlWhen(() => false) // see above
    .initially("")
    .like(/^([\w-]{43})?$/, "must be the 43 letters, digits, - and _ that tang-show-keys prints, or empty")
    .asked("Thumbprint of its key", {
      page: "machine",
      hint: "The command tang-show-keys prints it on the server. Machines trust no other key.",
      ofBase: "diskEncryption",
      usedWith: "tang",
    }),
  kernel_arguments: text("kernelArguments", "quiet net.ifnames=0")
    .unlessEmpty()
    .inXmlWhen(() => false) // see above
    .initially("")
    // No characters that have a special meaning for GRUB or a shell.
    .like(
      /^(?!.{513})([\w.,:=/@%+-]+( +[\w.,:=/@%+-]+)*)?$/,
      "must be at most 512 characters: words of letters, digits and _ . , : = / @ % + -, with spaces between them",
    )
    .asked("Kernel arguments", {
      page: "startup",
      hint: "Such as net.ifnames=0. The screen console and the serial console are always added.",
    }),
});

/** Gigabytes, rounded up, as the API shows the size of a disk. */
export function gigabytes(megabytes: number): number {
  return Math.ceil(megabytes / 1024);
}

/** Reads the size of a disk. A bare number is gigabytes, as shown; a number with M is exact megabytes. */
function diskSize(node: XmlNode, path: string): { diskSizeMb?: number; diskSizeGb?: number } {
  const { amount, unit } = readSize(node, path);
  return unit === "M" ? { diskSizeMb: amount } : { diskSizeGb: amount };
}
