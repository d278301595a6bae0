import tinyKey from "../../fixtures/repodata/signed/tiny.key?raw";
import { createAppliance } from "../../support/factories.ts";
import { uploadFile } from "../../support/files.ts";
import { refused, type Row } from "./row.ts";
import { madeId, webUrl, type Sample } from "./sample.ts";

const withFile = async ({ tux, ids }: Sample): Promise<Sample> => ({
  tux,
  ids: { ...ids, file: (await uploadFile(tux, Number(ids["appliance"]), "hello")).id },
});
const withAppliance = async ({ tux, ids }: Sample): Promise<Sample> => ({
  tux,
  ids: { ...ids, appliance: await createAppliance(tux) },
});
const withKey = async (sample: Sample): Promise<Sample> => {
  const { tux, ids } = await withAppliance(sample);
  const path = `/appliances/${ids["appliance"]}/gpg_keys?name=Tiny&target=rpm`;
  return { tux, ids: { ...ids, key: await madeId(tux, "POST", path, { file: tinyKey }) } };
};

const files: readonly Row[] = [
  {
    call: "GET /files",
    path: "/files?appliance_id={appliance}",
    answer: "files",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/files", "missing_appliance_id"),
      refused("/files?appliance_id=0", "invalid_appliance_id"),
      refused("/files?appliance_id=999999999", "invalid_appliance_id"),
    ],
  },
  {
    call: "POST /files",
    path: "/files?appliance_id={appliance}&path=/etc&permissions=0600&owner=root&enabled=1",
    sent: { file: "hello", name: "hello.conf" },
    answer: "file",
    foreign: "invalid_appliance_id",
    refused: [
      refused("/files", "missing_appliance_id"),
      refused("/files?appliance_id=0", "invalid_appliance_id"),
      refused("/files?appliance_id=1", "access_denied", { status: 403 }),
      refused("/files?appliance_id={appliance}&permissions=888", "invalid_value"),
      refused("/files?appliance_id={appliance}&enabled=perhaps", "invalid_value"),
      refused("/files?appliance_id={appliance}&path=/../etc", "invalid_value"),
      refused(`/files?appliance_id={appliance}&url=${webUrl}`, "invalid_request"),
      refused("/files?appliance_id={appliance}", "invalid_request", { sent: { text: "" } }),
      refused("/files?appliance_id={appliance}&url=gopher://x/y", "invalid_protocol", { sent: { text: "" } }),
      refused(`/files?appliance_id={appliance}&url=${webUrl}-not`, "download_error", { sent: { text: "" } }),
    ],
  },
  { call: "GET /files/{file_id}", path: "/files/{file}", answer: "file", foreign: "invalid_overlay_file_id" },
  {
    call: "PUT /files/{file_id}",
    path: "/files/{file}",
    sent: { xml: "<file><path>/etc/counter</path><permissions>600</permissions></file>" },
    answer: "file",
    foreign: "invalid_overlay_file_id",
    refused: [
      refused("/files/{file}", "invalid_xml", { sent: { xml: "" } }),
      refused("/files/{file}", "invalid_node", { sent: { xml: "<file><colour>red</colour></file>" } }),
      refused("/files/{file}", "invalid_value", { sent: { xml: "<file><enabled>maybe</enabled></file>" } }),
    ],
  },
  {
    call: "DELETE /files/{file_id}",
    path: "/files/{file}",
    answer: "success",
    foreign: "invalid_overlay_file_id",
    fresh: withFile,
  },
  {
    call: "GET /files/{file_id}/data",
    path: "/files/{file}/data",
    answer: "application/octet-stream",
    foreign: "invalid_overlay_file_id",
  },
  {
    call: "PUT /files/{file_id}/data",
    path: "/files/{file}/data",
    sent: { file: "hello again" },
    answer: "file",
    foreign: "invalid_overlay_file_id",
    refused: [refused("/files/{file}/data", "invalid_request", { sent: { text: "" } })],
  },
];

const keys = "/appliances/{appliance}/gpg_keys";

const gpgKeys: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/gpg_keys",
    path: keys,
    answer: "gpg_keys",
    foreign: "invalid_appliance_id",
  },
  {
    call: "POST /appliances/{appliance_id}/gpg_keys",
    path: `${keys}?name=Tiny&target=rpm`,
    sent: { file: tinyKey },
    answer: "gpg_key",
    foreign: "invalid_appliance_id",
    refused: [
      refused(`${keys}?target=rpm`, "invalid_name"),
      refused(`${keys}?name=Tiny`, "invalid_target"),
      refused(`${keys}?name=Tiny&target=ssh`, "invalid_target"),
      refused(`${keys}?name=Tiny&target=rpm`, "invalid_key", { sent: { file: "no key" } }),
      refused(`${keys}?name=Tiny&target=rpm`, "key_already_exists"),
      refused("/appliances/1/gpg_keys?name=Tiny&target=rpm", "access_denied", { status: 403 }),
    ],
    fresh: withAppliance,
  },
  {
    call: "GET /appliances/{appliance_id}/gpg_keys/{key_id}",
    path: `${keys}/{key}`,
    answer: "gpg_key",
    foreign: "invalid_appliance_id",
    unknownId: "invalid_gpg_key_id",
  },
  {
    call: "DELETE /appliances/{appliance_id}/gpg_keys/{key_id}",
    path: `${keys}/{key}`,
    answer: "success",
    foreign: "invalid_appliance_id",
    unknownId: "invalid_gpg_key_id",
    fresh: withKey,
  },
];

export const contents: readonly Row[] = [...files, ...gpgKeys];
