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

/** The address of the vessel that represents an appliance without a picture. */
export const vesselOf = (id: number): string => `/pictures/vessel-${id % vesselCount}.svg`;

/** 7 shapes, 8 glazes, 3 bands. */
export const vesselCount = 168;
