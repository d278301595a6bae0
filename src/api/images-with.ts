import { z } from "zod";
import { imagesWith } from "#documents/images-with";
import { onlyAppliance } from "#domain/accounts/access";
import { imagesWithAdvisory, imagesWithPackage } from "#domain/advisories/images-with";
import { Refusal } from "#domain/refusal";
import { call } from "#api/call";
import { v2 } from "#api/operation";
import { id } from "#http/params";

const Request = z.object({
  package: z.string().max(200, "invalid_value").optional(),
  cve: z.string().max(200, "invalid_value").optional(),
  version: z.string().max(200, "invalid_value").optional(),
  before: id("invalid_value").optional(),
});

/** The images that have a package, or that an advisory affects: a Kiln extension. */
export const findImages = call("GET /account/images", {
  name: "findImages",
  access: "own",
  isForAll: true,
  rate: "reads",
  versions: v2,
  summary: "Which of your images have a package, or have a vulnerability, newest first",
  details:
    "Pass package or cve. With cve, each package has the state of the advisory for it, and fixed is the version of its source " +
    "package that fixes it; an advisory that no feed has is refused. At most 1000 images. For earlier ones, pass the last build_id as before. Images without a file, such as expired ones, are " +
    "not among them. A new image is found within a minute or two.",
  params: Request,
  about: {
    package: "The name of an installed package, such as openssl.",
    cve: "The id of an advisory, such as CVE-2026-1234, or of an announcement of its fix, such as DSA-6001-1.",
    version: "Only this version, with its epoch and release: `[epoch:]version[-release]`.",
    before: "Only builds with a smaller id.",
  },
  answer: imagesWith,
  refuses: ["missing_parameter", "invalid_value"],
  act: ({ db, account, access }, { package: name, cve, version, before }) => {
    const asked = { accountId: account.id, only: onlyAppliance(access), before };
    if (cve !== undefined) return imagesWithAdvisory(db, { ...asked, id: cve.toUpperCase() });
    if (name === undefined) throw new Refusal("missing_parameter", { message: "Pass package or cve." });
    return imagesWithPackage(db, { ...asked, name, version });
  },
});
