import type { Schema } from "#lib/wire/schema";

const file = (description: string): Schema => ({ description, content: { "application/octet-stream": {} } });
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
        { name: "token", in: "path", required: true, schema: { type: "string" } },
        { name: "file_name", in: "path", required: true, schema: { type: "string" } },
        { name: "Range", in: "header", required: false, schema: { type: "string" } },
      ],
      responses: {
        200: file("The image. Digest headers and the ETag are made of its checksums."),
        206: file("A part of it."),
        403: { description: "The address was for a token, or for an account other than the owner, and has expired." },
        404: missing,
        410: { description: "The image was removed because of its age." },
        416: { description: "The range lies outside the image." },
      },
    },
  },
};
