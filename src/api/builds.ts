import { z } from "zod";
import { compareBuilds } from "#api/build-difference";
import { type CallGroup, call, file } from "#api/call";
import { id } from "#http/params";
import { attestations } from "#documents/attestation";
import { build, builds as buildsDocument } from "#documents/build";
import { success } from "#documents/success";
import { attestationFiles, formats, getAttestedBuild, lackOf, sha256Of } from "#domain/builds/attestation";
import { getBuild } from "#domain/builds/build";
import { deleteBuild } from "#domain/builds/deletion";
import { listBuilds } from "#domain/builds/ended";
import { readTexts } from "#domain/builds/log";
import { Refusal } from "#domain/refusal";
import { answerText } from "#http/text";
import { v2 } from "#api/operation";
import { buildAdvisories } from "#documents/build-advisories";
import { advisoriesOfBuild } from "#domain/advisories/of-build";
import { buildUpdates } from "#documents/build-updates";
import { updatesOf } from "#domain/updates/of-build";

const ListRequest = z.object({
  appliance_id: id("invalid_appliance_id", "missing_appliance_id"),
  before: id("invalid_value").optional(),
});

const ids = { build_id: "invalid_build_id" } as const;
const noTexts = { own: "", kiwi: "" };

/** The advisories that affect an image: a Kiln extension. */
const listAdvisories = call("GET /builds/{build_id}/advisories", {
  name: "listAdvisories",
  access: "readable",
  rate: "reads",
  versions: v2,
  summary: "The security advisories that concern the packages of an image",
  details:
    "fixed: an update fixes it. open: there is no fix yet. undetermined: the distribution does not know yet. unimportant: it says that " +
    "it does no harm. exploited counts the fixed ones that are known to be exploited. Versions are those of source packages. " +
    "known is false if no feed of the service has the base system. feeds says which ones it has read, and when.",
  ids,
  answer: buildAdvisories,
  refuses: ["build_not_found"],
  act: async ({ env, db, account, access }, { build_id }) =>
    await advisoriesOfBuild({ env, db }, await getBuild(db, { account, access }, build_id)),
});

/** The outdated packages of an image: a Kiln extension. */
const listUpdates = call("GET /builds/{build_id}/updates", {
  name: "listUpdates",
  access: "readable",
  rate: "reads",
  versions: v2,
  summary: "The packages of an image that the appliance's repositories have in a newer version now",
  details:
    "newer counts them, and security those with a newer version in a security repository. unlisted counts packages that are in " +
    "none of the appliance's repositories now. If a repository's state is unknown, Kiln cannot compare its " +
    "packages; if it is stale, its last refresh failed. " +
    "automatic_build is the last one that the service has made or refused for the appliance (automatic_builds), " +
    "and automatic_build_waits_until says when the next one may begin, if the image is outdated and it must wait " +
    "(automatic_builds_at).",
  ids,
  answer: buildUpdates,
  refuses: ["build_not_found"],
  act: async ({ env, db, account, access }, { build_id }) =>
    await updatesOf({ env, db }, await getBuild(db, { account, access }, build_id)),
});

export const builds: CallGroup = {
  title: "Finished builds",
  about:
    "Images that were built. A download_url needs no credentials, and supports ranges and ETags. If the build is of an " +
    "appliance that is shared with you, or you use a token, the URL is only for you, and expires when the sharing or the token ends.",
  operations: [
    call("GET /builds", {
      name: "listBuilds",
      access: "readable",
      summary: "Finished builds of an appliance, newest first",
      details: "At most 1000. For earlier ones, pass the last id as before.",
      params: ListRequest,
      about: { before: "Only builds with a smaller id." },
      answer: buildsDocument,
      refuses: ["missing_appliance_id", "invalid_appliance_id", "invalid_value"],
      act: ({ db, account, access }, { appliance_id: applianceId, before }) =>
        listBuilds(db, { account, access }, { applianceId, before }),
    }),
    call("GET /builds/{build_id}", {
      name: "getBuild",
      access: "readable",
      summary: "A finished build; on v2 with its log and how long each step took",
      ids,
      answer: build,
      act: async ({ env, db, account, access, version }, { build_id }) => {
        const build = await getBuild(db, { account, access }, build_id);
        return { build, texts: version.name === "v2" ? await readTexts(env, build) : noTexts };
      },
    }),
    compareBuilds,
    listUpdates,
    listAdvisories,
    call("DELETE /builds/{build_id}", {
      name: "deleteBuild",
      access: "own",
      summary: "Delete a build with its image",
      ids,
      answer: success,
      refuses: ["cannot_delete_published_build"],
      act: ({ env, db, account }, { build_id }) => deleteBuild({ env, db }, account.id, build_id),
    }),
    call("GET /builds/{build_id}/attestations", {
      name: "listAttestations",
      access: "readable",
      rate: "reads",
      versions: v2,
      summary: "The attestations of a build: what is in its image, and where it comes from",
      details:
        "Everyone can read those of published versions. The same files are next to the image, at its download_url.",
      ids,
      answer: attestations,
      refuses: ["build_not_found", "unknown_error"],
      act: async ({ env, db, account }, { build_id }) => {
        const build = await getAttestedBuild(db, account.id, build_id);
        const files = await attestationFiles({ env, db }, build);
        return files.map(({ text, ...one }) => ({
          ...one,
          sha256: sha256Of(text),
          buildId: build.id,
        }));
      },
    }),
    call("GET /builds/{build_id}/attestations/{format}", {
      name: "getAttestation",
      access: "readable",
      rate: "reads",
      versions: v2,
      summary: "One attestation: a bill of materials, or the signed provenance",
      ids,
      about: {
        format:
          "spdx (SPDX 2.3), cyclonedx (CycloneDX 1.6), provenance (SLSA v1 in a DSSE envelope); rebuilds (what rebuilds have " +
          "shown, a DSSE envelope each), if there are any; vex (OpenVEX 0.2 in a DSSE envelope), if there are advisories of the base system.",
      },
      answer: file(
        "The document.",
        "application/spdx+json",
        "application/vnd.cyclonedx+json",
        "application/vnd.in-toto.bundle",
      ),
      refuses: ["invalid_value", "build_not_found", "unknown_error"],
      act: async ({ env, db, account }, { build_id, format: wanted }, c) => {
        const build = await getAttestedBuild(db, account.id, build_id);
        const format = formats.find((one) => one === wanted);
        if (!format) throw new Refusal("invalid_value", { message: `Pick one of ${formats.join(", ")}.` });
        const [file] = await attestationFiles({ env, db }, build, [format]);
        if (!file) throw new Refusal("invalid_value", { message: `Build ${build.id} has ${lackOf[format]}.` });
        return await answerText(c.req.raw, file);
      },
    }),
  ],
};
