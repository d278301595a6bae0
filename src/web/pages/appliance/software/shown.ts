import type { Offers } from "#domain/repositories/offers";
import type { SoftwareEffect } from "#domain/software/effect";
import type { SoftwareResolution } from "#domain/software/resolution";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import type { Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import type { Rpm } from "#storage/rpms";

/** What the page shows below the head. */
export interface ShownSoftware {
  appliance: Appliance;
  software: ApplianceSoftware;
  resolution: SoftwareResolution;
  /** Of no change: why the software does not resolve, and the solutions. */
  now: SoftwareEffect;
  /** The person's own packages for its base system. */
  uploads: readonly Rpm[];
  /** Not yet used. */
  usable: readonly Repository[];
  search: Search;
  /** Where the person works, if what was there may be gone: this heading gets the focus. */
  at: string | undefined;
}

interface Search {
  q: string;
  allFields: boolean;
  /** How many hits the page shows. */
  most: number;
  found: Offers | undefined;
  look: Looked | undefined;
}

/** A hit whose effect the person wants to know: of adding it, or of having it. */
export interface Looked {
  name: string;
  effect: SoftwareEffect;
}
