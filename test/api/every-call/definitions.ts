import { refused, type Row } from "./row.ts";

const one = "/appliances/{appliance}/definition";
const named = { xml: "<definition><name>Reading room</name></definition>" };
const fresh = { xml: "<definition><base_system>tiny-1.0</base_system><name>Reading room</name></definition>" };

const wrongDocuments = (path: string) => [
  refused(path, "invalid_xml", { sent: { xml: "" } }),
  refused(path, "invalid_node", { sent: { xml: "<definition><colour/></definition>" } }),
  refused(path, "invalid_value", { sent: { xml: withIn("<packages><package><name>a b</name></package></packages>") } }),
  refused(path, "invalid_value", { sent: { xml: withIn("<version>one</version>") } }),
  refused(path, "invalid_version", {
    sent: { xml: withIn("<packages><package><name>a</name><version>a b</version></package></packages>") },
  }),
  refused(path, "invalid_repository_id", {
    sent: { xml: withIn("<repositories><repository><name>none</name></repository></repositories>") },
  }),
  refused(path, "invalid_key", {
    sent: { xml: withIn("<gpg_keys><gpg_key><name>a</name><key>no key</key></gpg_key></gpg_keys>") },
  }),
  refused(path, "missing_parameter", {
    sent: { xml: withIn("<files><file><path>/etc/</path><sha256>00</sha256></file></files>") },
  }),
];

const withIn = (parts: string): string => `<definition><base_system>tiny-1.0</base_system>${parts}</definition>`;
const notMine = refused("/appliances/1/definition", "access_denied", { status: 403, sent: named });

const ofNew = (path: string) => [
  ...wrongDocuments(path),
  refused(path, "invalid_base_system", { sent: named }),
  refused(path, "invalid_architecture", { sent: { xml: withIn("<arch>aarch64</arch>") } }),
];

export const definitions: readonly Row[] = [
  {
    call: "GET /appliances/{appliance_id}/definition",
    path: one,
    answer: "definition",
    foreign: "invalid_appliance_id",
    refused: [refused("/appliances/1/definition", "access_denied", { status: 403 })],
  },
  {
    call: "PUT /appliances/{appliance_id}/definition",
    path: one,
    sent: named,
    answer: "definition",
    foreign: "invalid_appliance_id",
    refused: [...wrongDocuments(one), notMine],
  },
  {
    call: "POST /appliances/{appliance_id}/definition/plan",
    path: `${one}/plan`,
    sent: named,
    answer: "plan",
    foreign: "invalid_appliance_id",
    refused: wrongDocuments(`${one}/plan`),
  },
  {
    call: "POST /definitions",
    path: "/definitions",
    sent: fresh,
    status: 201,
    answer: "definition",
    refused: ofNew("/definitions"),
  },
  {
    call: "POST /definitions/plan",
    path: "/definitions/plan",
    sent: fresh,
    answer: "plan",
    refused: ofNew("/definitions/plan"),
  },
  {
    call: "POST /schematics",
    path: "/schematics",
    sent: fresh,
    status: 201,
    answer: "schematic",
    refused: ofNew("/schematics"),
  },
  {
    call: "GET /schematics/{schematic}",
    path: "/schematics/{schematic}",
    answer: "schematic",
    foreign: "unknown_error",
  },
  {
    call: "POST /contents",
    path: "/contents",
    sent: { bytes: "hello", headers: { "content-type": "application/octet-stream" } },
    status: 201,
    answer: "content",
  },
];
