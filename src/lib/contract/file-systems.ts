interface FileSystemFacts {
  /** The smallest size that its mkfs accepts, in MB. Absent if every disk is large enough. */
  leastMb?: number;
  /** Arguments of its mkfs, so that GRUB and the kernel of an older release than the builder's can read it. */
  createOptions?: string;
  /** Directories that are subvolumes, so that snapshots of the root do not contain them. */
  subvolumes?: readonly string[];
  /** The text in a partition by which it is recognised. */
  mark: { at: number; text: string };
}

/** The file systems of a disk's root. The first one is the default. */
const facts = {
  ext4: { mark: { at: 1080, text: "\x53\xef" } },
  xfs: { leastMb: 300, createOptions: "-i nrext64=0", mark: { at: 0, text: "XFSB" } },
  btrfs: { leastMb: 109, subvolumes: ["/home", "/var/log"], mark: { at: 65_600, text: "_BHRfS_M" } },
} satisfies Readonly<Record<string, FileSystemFacts>>;

export type FileSystem = keyof typeof facts;

export const fileSystems = Object.keys(facts) as [FileSystem, ...FileSystem[]];

export const fileSystemFacts: Readonly<Record<FileSystem, FileSystemFacts>> = facts;
