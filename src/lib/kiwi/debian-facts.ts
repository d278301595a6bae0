import type { FrozenKey } from "#lib/contract/index";

/** Additional facts for the description of a Debian system. */
export interface DebianFacts {
  /** The release as debootstrap knows it, such as `bookworm`. */
  release: string;
  /** Repositories that the image itself can reach later. */
  sources: AptSource[];
  /** The keys that the image's apt trusts for every source without its own, in addition to those in its packages. */
  keys: readonly FrozenKey[];
}

/** A line of the image's /etc/apt/sources.list. */
export interface AptSource {
  url: string;
  suite: string;
  components: readonly string[];
  /** Whether its index was signed when the packages were chosen. */
  isSigned: boolean;
  /** Only these keys may sign it. If there are none, every key that apt trusts may. */
  keys: readonly FrozenKey[];
  /** Whether its owner uses it although its index has expired. */
  isExpired: boolean;
  /** Whether it contains the base system's security updates. */
  isSecurity: boolean;
}
