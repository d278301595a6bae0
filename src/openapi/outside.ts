import type { Schema } from "#lib/wire/schema";

const file = (description: string): Schema => ({ description, content: { "application/octet-stream": {} } });
const inPath = (name: string): Schema => ({ name, in: "path", required: true, schema: { type: "string" } });
const missing: Schema = { description: "There is no such file." };

/** The paths that clients use outside the API's prefix. */
export const outsidePaths: Record<string, Schema> = {
  "/user/show_api_key": {
    get: {
      operationId: "showApiKey",
      tags: ["General"],
      summary: "A page with your API key, in a span of the class svc:api_key",
      description: "Opens with the account's password, or with the API key itself.",
      responses: {
        200: { description: "The page.", content: { "text/html": {} } },
        401: { description: "A page that asks to sign in.", content: { "text/html": {} } },
      },
    },
  },
  "/download/{token}/{file_name}": {
    get: {
      operationId: "downloadImage",
      tags: ["Finished builds"],
      summary: "The image of a build, at its download_url",
      security: [],
      parameters: [
        inPath("token"),
        inPath("file_name"),
        { name: "Range", in: "header", required: false, schema: { type: "string" } },
      ],
      responses: {
        200: file("The image. Digest headers and the ETag are made of its checksums."),
        206: file("A part of it."),
        403: { description: "The address was for a token, or for an account other than the owner, and has expired." },
        404: missing,
        410: { description: "The image was removed because of its age." },
        416: { description: "The range is outside the image." },
      },
    },
  },
  "/image/{account}/{appliance_id}/{channel}/{format}": {
    get: {
      operationId: "openChannel",
      tags: ["Channels"],
      summary: "Leads to the image of the version that a channel has",
      description:
        "With .sha256, .intoto.jsonl, .spdx.json, .cdx.json or .tlog-proof after the format: to that document about it.",
      security: [],
      parameters: [inPath("account"), inPath("appliance_id"), inPath("channel"), inPath("format")],
      responses: {
        302: { description: "The image is at the address in Location. The ETag changes when the channel moves." },
        304: { description: "The ETag in If-None-Match is still current." },
        404: { description: "There is no such channel, or it has no such image. The text says which." },
      },
    },
  },
  "/published/{build_id}/input.json": {
    get: {
      operationId: "readPublishedInput",
      tags: ["Finished builds"],
      summary: "What a published image was built from, to build it again",
      description: "The signed provenance of the image names the SHA-256 of this file.",
      security: [],
      parameters: [inPath("build_id")],
      responses: {
        200: { description: "The frozen input.", content: { "application/json": {} } },
        403: { description: "The publisher does not allow cloning." },
        404: { description: "No published image has this number." },
      },
    },
  },
};
