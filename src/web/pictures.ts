import { factory } from "./factory.ts";
import { vessel } from "./drawing/vessel.ts";
import { vesselCount } from "./parts/picture.tsx";

/** The vessels: pictures for appliances without their own. They never change. */
export const pictures = factory.createApp().get("/pictures/:name{vessel-\\d{1,3}\\.svg}", (c) => {
  const number = Number(/\d+/.exec(c.req.param("name"))?.[0]);
  if (number >= vesselCount) return c.notFound();
  return c.body(vessel(number), 200, {
    "Content-Type": "image/svg+xml",
    "Cache-Control": "public, max-age=31536000, immutable",
  });
});
