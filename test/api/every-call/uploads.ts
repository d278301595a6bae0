import { refused, type Row, type Sent } from "./row.ts";
import { madeId, type Sample } from "./sample.ts";

const ofLength = (length: string | number, more = {}): Sent => ({
  bytes: "",
  headers: { "upload-length": String(length), ...more },
});
export const announced = ofLength(5);

const post = "/uploads?appliance_id={appliance}";
const otherProtocol = { "tus-resumable": "2.0.0" };

const type = "application/offset+octet-stream";
const piece = (bytes: string, offset = "0", more = {}): Sent => ({
  bytes,
  headers: { "upload-offset": offset, "content-type": type, ...more },
});

const fresh = async ({ tux, ids }: Sample): Promise<Sample> => ({
  tux,
  ids: { ...ids, upload: await madeId(tux, "POST", `/uploads?appliance_id=${ids["appliance"]}&filename=a`, announced) },
});

const sending: Omit<Row, "call"> = {
  path: "/uploads/{upload}",
  sent: piece("he"),
  status: 204,
  answer: "",
  foreign: "unknown_error",
  refused: [
    refused("/uploads/{upload}", "missing_parameter", { sent: { bytes: "he", headers: { "content-type": type } } }),
    refused("/uploads/{upload}", "invalid_value", { sent: piece("he", "-1") }),
    refused("/uploads/{upload}", "unknown_error", { sent: piece("he", "3"), status: 409 }),
    refused("/uploads/{upload}", "unknown_error", { sent: piece("hello!"), status: 413 }),
    refused("/uploads/{upload}", "unknown_error", { sent: { text: "he" }, status: 415 }),
    refused("/uploads/{upload}", "unknown_error", { sent: piece("he", "0", otherProtocol), status: 412 }),
  ],
  fresh,
};

export const uploads: readonly Row[] = [
  { call: "GET /uploads", path: "/uploads", answer: "uploads" },
  {
    call: "POST /uploads",
    path: `${post}&filename=big&path=/srv`,
    sent: announced,
    status: 201,
    answer: "upload",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${post}&filename=big`, "missing_parameter", { sent: { bytes: "", headers: {} } }),
      refused(post, "missing_parameter", { sent: announced }),
      refused("/uploads?filename=big", "missing_parameter", { sent: announced }),
      refused(`${post}&filename=big&base_system=tiny-1.0`, "missing_parameter", { sent: announced }),
      refused(`${post}&filename=big&path=/../etc`, "invalid_value", { sent: announced }),
      refused(`${post}&filename=big`, "invalid_value", { sent: ofLength("many") }),
      refused(`${post}&filename=big`, "invalid_value", { sent: ofLength(0) }),
      refused(`${post}&filename=big`, "invalid_value", { sent: ofLength(5, { "upload-metadata": "path %" }) }),
      refused(`${post}&filename=big`, "unknown_error", { sent: ofLength(2 ** 31 + 1), status: 413 }),
      refused(`${post}&filename=big`, "unknown_error", { sent: ofLength(5, otherProtocol), status: 412 }),
      refused("/uploads?appliance_id=0&filename=big", "invalid_appliance_id", { sent: announced }),
      refused("/uploads?appliance_id=1&filename=big", "access_denied", { sent: announced, status: 403 }),
      refused("/uploads?base_system=none-1.0", "invalid_base_system", { sent: announced }),
    ],
  },
  { call: "GET /uploads/{upload_id}", path: "/uploads/{upload}", answer: "upload", foreign: "unknown_error" },
  { call: "PATCH /uploads/{upload_id}", ...sending },
  { call: "POST /uploads/{upload_id}", ...sending },
  {
    call: "DELETE /uploads/{upload_id}",
    path: "/uploads/{upload}",
    status: 204,
    answer: "",
    foreign: "unknown_error",
    fresh,
  },
];
