import { vessel } from "../drawing/vessel.ts";

interface PictureProps {
  src: string;
  look?: "small" | "big";
}

/** The picture of an appliance, in the kiln's door. It needs no text, because the name is next to it. */
export const Picture = ({ src, look }: PictureProps) => (
  <span class={look === undefined ? "niche" : `niche ${look}`}>
    <img src={src} alt="" width="100" height="100" loading="lazy" decoding="async" />
  </span>
);

/**
 * The vessel that represents an appliance without a picture. It is in the page: 25 of them are 2 kB in it, and 12 kB in
 * separate requests.
 */
export function vesselOf(id: number): string {
  const number = id % vesselCount;
  const address = drawn.get(number) ?? `data:image/svg+xml,${escaped(vessel(number))}`;
  drawn.set(number, address);
  return address;
}

/** 7 shapes, 8 glazes, 3 bands. */
const vesselCount = 168;
/** A page with 50 vessels would take 3 to 6 ms to draw them. */
const drawn = new Map<number, string>();

/** Escapes only what an address does not allow, so that the pictures compress well. */
const escaped = (svg: string): string => svg.replaceAll("\n", "").replaceAll(/["#%<>]/g, encodeURIComponent);
