import { Chance } from "../../scripts/chance.ts";
import { primaryXmlOf } from "../solver/repo-dsl.ts";
import { rpmMd, type RepositoryFiles } from "../support/rpm-md.ts";
import { cross } from "./runtime/actors.ts";
import { clock } from "./runtime/clock.ts";
import { unlessAborted } from "./runtime/network.ts";

/**
 * The behaviour of a mirror. A fast one answers soon, a slow one is too slow for a quick import, a faulty one answers
 * one request in three incorrectly, and a dead one never answers.
 */
const kinds = ["quick", "slow", "quick", "faulty", "dead"] as const;
type Kind = (typeof kinds)[number];

/** A slow mirror needs this long to answer, which is shorter than a service waits. */
const slowMs = 25_000;
const silentMs = 600_000;
const mostPackages = 40;

const host = "mirrors.example.org";

/** A server with a repository that changes. */
class Mirror {
  readonly kind: Kind;
  readonly #chance: Chance;
  /** The number of packages in each revision. All packages of the nth revision, counted from 1, have version n. */
  readonly counts: number[] = [];
  #files: RepositoryFiles = {};

  constructor(kind: Kind, pick: number) {
    this.kind = kind;
    this.#chance = new Chance(pick);
    this.publish();
  }

  /** Replaces all files. So a client that has read the index finds a list that does not match it. */
  publish(): void {
    const count = this.#chance.between(1, mostPackages);
    this.counts.push(count);
    const version = this.counts.length;
    const packages = Array.from({ length: count }, (_, nth) => `tool${nth}-${version}`);
    this.#files = rpmMd(packages, { suffix: "xml", body: new TextEncoder().encode(primaryXmlOf(packages)) });
  }

  async answer(path: string): Promise<Response> {
    const wrong = this.kind === "faulty" && this.#chance.between(1, 3) === 1;
    const fault = wrong ? this.#chance.oneOf(["is silent", "fails", "is cut"] as const) : undefined;
    if (this.kind === "slow") await clock.sleep(slowMs);
    if (this.kind === "dead" || fault === "is silent") await clock.sleep(silentMs);
    if (fault === "fails") return new Response(null, { status: 500 });
    const file = this.#files[path];
    if (file === undefined) return new Response(null, { status: 404 });
    const bytes = Uint8Array.from(typeof file === "string" ? new TextEncoder().encode(file) : file);
    return new Response(fault === "is cut" ? bytes.subarray(0, bytes.byteLength / 2) : bytes);
  }
}

/** The mirrors of the world, by the addresses of their repositories. */
export class Mirrors {
  readonly #known = new Map<string, Mirror>();

  /** The URL of a mirror. Several accounts may choose the same one. */
  choose(pick: number): string {
    const nth = pick % kinds.length;
    const url = `http://${host}/${nth}`;
    if (!this.#known.has(url)) this.#known.set(url, new Mirror(kinds[nth] ?? "quick", pick));
    return url;
  }

  of(url: string): Mirror | undefined {
    return this.#known.get(url);
  }

  /** Changes one of them. Returns its URL, or an empty text if there is none. */
  publish(pick: number): string {
    const all = [...this.#known.keys()];
    const url = all[pick % all.length] ?? "";
    this.of(url)?.publish();
    return url;
  }

  static has(address: string): boolean {
    return new URL(address).host === host;
  }

  /** The service's `fetch`. A signal aborts it, as on the platform. */
  async fetch(address: string, { signal }: RequestInit): Promise<Response> {
    const [, url = "", path = ""] = /^(http:\/\/[^/]+\/\d+)\/(.*)$/.exec(address) ?? [];
    return await cross("GET from a mirror", async () => {
      const mirror = this.#known.get(url);
      if (!mirror) return new Response(null, { status: 404 });
      return await unlessAborted(mirror.answer(path), signal);
    });
  }
}
