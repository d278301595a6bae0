/** The product of an image, which its config.sh sets. */
import { expect, it } from "vitest";
import { emptyFolder } from "./folder.ts";
import { imagesIn } from "./image-root.ts";

const ask = "readlink /etc/products.d/baseproduct || echo none";

it("is the base system's, where a package has installed it", () => {
  const image = imagesIn(emptyFolder());

  expect(image({ product: "Leap" }, ask, "mkdir /etc/products.d; touch /etc/products.d/Leap.prod").trim()).toBe(
    "Leap.prod",
  );
  expect(image({ product: "Leap" }, ask).trim()).toBe("none");
  expect(image({}, ask, "mkdir /etc/products.d; touch /etc/products.d/Leap.prod").trim()).toBe("none");
});
