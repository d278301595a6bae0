import { sandbox, type Accel } from "../sandbox.ts";
import { qemuProgram } from "../testdrive/session-sandbox.ts";

/** The resources of one guest. It gets its disks from this host as open files, which QEMU's own user could not open. */
export interface GuestMachine {
  accel: Accel;
  memoryMb: number;
  cpus: number;
  /** The largest file that QEMU may write: the scratch disk or the result disk. */
  diskBytes: number;
  user: number;
  groups: readonly number[];
  /** Whether bubblewrap hides this host's files from QEMU. */
  enclosed: boolean;
}

/** Descriptors of the files and sockets that QEMU inherits, in the order of run-guest.ts. */
const descriptors = {
  log: 3,
  status: 4,
  console: 5,
  kernel: 6,
  initrd: 7,
  root: 8,
  job: 9,
  scratch: 10,
  result: 11,
};

/** Memory for TCG's translated code. With less, a build translates the same programs again and again. */
const translationMb = 256;
/** Memory for QEMU itself: its program, its libraries, a thread for each request. */
const overheadMb = 3072;

/** The whole command: it drops root's rights, sets limits, hides this host's files, and starts QEMU. */
export function guestCommand(machine: GuestMachine): [command: string, args: string[]] {
  const { user, groups } = machine;
  const identity = ["--reuid", `${user}`, "--regid", `${user}`];
  const noRights = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--pdeathsig", "KILL"];
  const own = groups.length === 0 ? ["--clear-groups"] : ["--groups", groups.join(",")];
  const words = [
    [...identity, ...own, ...noRights, "--", "prlimit", ...limits(machine), "--"],
    machine.enclosed ? sandbox({ accel: machine.accel, namespaces: ["--unshare-all"] }) : [],
    [qemuProgram, ...qemuArguments(machine)],
  ];
  return ["setpriv", words.flat()];
}

const limits = ({ memoryMb, diskBytes }: GuestMachine): string[] => [
  "--core=0",
  "--nofile=256",
  "--nproc=512",
  `--fsize=${diskBytes}`,
  `--as=${(memoryMb + translationMb + overheadMb) * 1024 * 1024}`,
];

/** Exported for its test. */
export function qemuArguments({ accel, memoryMb, cpus }: GuestMachine): string[] {
  // On a busy host an emulated timer may be late. The kernel would consider it broken, and panic.
  const clocks = ["tsc=reliable", "no_timer_check"];
  const kernelWords = ["console=ttyS0", "quiet", "panic=-1", "mitigations=off", "random.trust_cpu=on", ...clocks];
  return [
    ["-nodefaults", "-no-user-config", "-name", "kiln-build", "-no-reboot", "-display", "none", "-nic", "none"],
    ["-machine", "pc,vmport=off", ...processor(accel), "-smp", `${cpus}`, "-m", `${memoryMb}M`],
    ["-kernel", inherited("kernel"), "-initrd", inherited("initrd"), "-append", kernelWords.join(" ")],
    ["-device", "virtio-rng-pci", "-device", "virtio-serial-pci"],
    [...socket("log"), "-device", "virtserialport,chardev=log,name=log"],
    [...socket("status"), "-device", "virtserialport,chardev=status,name=status"],
    [...socket("console"), "-serial", "chardev:console"],
    [...disk("root", "read-only"), ...disk("job", "read-only"), ...disk("scratch"), ...disk("result")],
    ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"],
  ].flat();
}

/** Under emulation a processor without AVX is faster, because programs then do not use AVX. */
const processor = (accel: Accel): string[] =>
  accel === "kvm"
    ? ["-accel", "kvm", "-cpu", "host"]
    : ["-accel", `tcg,thread=multi,tb-size=${translationMb}`, "-cpu", "Nehalem"];

type Inherited = keyof typeof descriptors;

const inherited = (name: Inherited) => `/proc/self/fd/${descriptors[name]}`;

const socket = (name: Inherited): string[] => ["-chardev", `socket,id=${name},fd=${descriptors[name]}`];

/**
 * A guest finds its disks by serial number. The format is always raw, so that a guest cannot choose how its disk is
 * read.
 */
function disk(name: Inherited, access?: "read-only"): string[] {
  const set = `/dev/fdset/${descriptors[name]}`;
  const how = access === "read-only" ? "readonly=on" : "discard=unmap,auto-read-only=off";
  return [
    ["-add-fd", `fd=${descriptors[name]},set=${descriptors[name]}`],
    ["-drive", `if=none,id=${name},file=${set},format=raw,cache=unsafe,${how}`],
    ["-device", `virtio-blk-pci,drive=${name},serial=${name}`],
  ].flat();
}
