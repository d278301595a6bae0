import { z } from "zod";
import { imagesWith } from "#documents/images-with";
import { onlyAppliance } from "#domain/accounts/access";
import { imagesWithPackage } from "#domain/advisories/images-with";
import { call } from "#api/call";
import { v2 } from "#api/operation";
import { id } from "#http/params";

const Request = z.object({
  package: z.string({ error: "missing_parameter" }).min(1, "missing_parameter").max(200, "invalid_value"),
  version: z.string().max(200, "invalid_value").optional(),
  before: id("invalid_value").optional(),
});

/** The images that have a package: a Kiln extension. */
export const findImages = call("GET /account/images", {
  name: "findImages",
  access: "own",
  isForAll: true,
  rate: "reads",
  versions: v2,
  summary: "Which of your images have a package, newest first",
  details:
    "At most 1000 images. For earlier ones, pass the last build_id as before. Images without a file, such as expired ones, are " +
    "not among them. A new image is found within a minute or two.",
  params: Request,
  about: {
    package: "The name of an installed package, such as openssl.",
    version: "Only this version, with its epoch and release: `[epoch:]version[-release]`.",
    before: "Only builds with a smaller id.",
  },
  answer: imagesWith,
  refuses: ["missing_parameter", "invalid_value"],
  act: ({ db, account, access }, { package: name, version, before }) =>
    imagesWithPackage(db, { accountId: account.id, only: onlyAppliance(access), name, version, before }),
});
