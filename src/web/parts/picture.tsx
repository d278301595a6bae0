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
 * requests of their own.
 */
export const vesselOf = (id: number): string => `data:image/svg+xml,${escaped(vessel(id))}`;

/** Escapes only what an address does not allow, so that the pictures compress well. */
const escaped = (svg: string): string => svg.replaceAll("\n", "").replaceAll(/["#%<>]/g, encodeURIComponent);
