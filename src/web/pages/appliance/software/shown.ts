import type { Offers } from "#domain/repositories/offers";
import type { SoftwareEffect } from "#domain/software/effect";
import type { SoftwareResolution } from "#domain/software/resolution";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import type { Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import type { Rpm } from "#storage/rpms";

/** The content of the page below the head. */
export interface ShownSoftware {
  appliance: Appliance;
  software: ApplianceSoftware;
  resolution: SoftwareResolution;
  /** The software without any change: why it does not resolve, and the solutions. */
  now: SoftwareEffect;
  /** The person's own packages for its base system. */
  uploads: readonly Rpm[];
  /** The repositories that the appliance does not use yet. */
  usable: readonly Repository[];
  search: Search;
  /** The heading that gets the focus, because the form that the person used may no longer exist. */
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

/** A hit whose effect the person wants to see: of adding it, or of having it. */
export interface Looked {
  name: string;
  effect: SoftwareEffect;
}
