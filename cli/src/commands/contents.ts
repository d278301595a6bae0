import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { AnswerOf, Client, RequestOf } from "../client/client.ts";
import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { transferBar } from "../output/progress.ts";
import { bytes, table } from "../output/table.ts";
import { applianceId, numberOf } from "../resolve.ts";
import { fileOf, fitsOneRequest, sizeOf, uploadInPieces } from "../upload/upload.ts";

export const contents = [
  command("file list <appliance>", {
    tool: "reads",
    summary: "List the files that builds copy into the image",
    act: async ({ client, show, paint }, { appliance }) => {
      const answer = await client.call("listFiles", { appliance_id: await applianceId(client, appliance) });
      const rows = answer.files.map((one) => [
        one.id,
        pathOf(one),
        `${one.owner}:${one.group}`,
        one.permissions,
        bytes(one.size),
        one.enabled ? "yes" : "no",
      ]);
      show(answer, () => table(paint, ["ID", "PATH", "OWNER", "MODE", "SIZE", "ENABLED"], rows));
    },
  }),
  command("file add <appliance> <file>", {
    summary: "Add a file of this machine to the image",
    details: "A large file is sent in pieces, and continues if the connection breaks.",
    options: {
      path: value("path", "folder in the image; the default is /"),
      name: value("name", "name in the image; the default is that of the file"),
      owner: value("owner", "its owner; the default is root"),
      group: value("owner", "its group; the default is root"),
      mode: value("mode", "its mode; the default is 644"),
    },
    examples: ["kiln file add First motd --path /etc"],
    act: async (kiln, { appliance, file, path = "/", name = basename(file), owner = "root", group = "root", mode }) => {
      const { client } = kiln;
      const target = { path, filename: name, owner, group, ...(mode !== undefined && { permissions: mode }) };
      const answer = await addFile(client, file, { appliance_id: await applianceId(client, appliance), ...target });
      kiln.show(answer, () => `${pathOf(answer.file)} is file ${answer.file.id}, ${bytes(answer.file.size)}.`);
    },
  }),
  command("file get <overlay>", {
    summary: "Download a file that was added",
    options: { output: value("file", "where to write it; the default is its own name, in this folder") },
    act: async ({ client, show }, { overlay, output }) => {
      const id = { file_id: numberOf(overlay, "file") };
      const { file } = await client.call("getFile", id);
      const content = Buffer.from(await (await client.call("downloadFile", id)).arrayBuffer());
      const target = output ?? basename(file.filename);
      write(target, content, output === undefined ? "wx" : "w");
      show({ file: target, size: content.length }, () => `${target} has ${bytes(content.length)}.`);
    },
  }),
  command("file remove <overlay>", {
    summary: "Remove a file from the appliance",
    act: async ({ client, show }, { overlay }) => {
      const answer = await client.call("deleteFile", { file_id: numberOf(overlay, "file") });
      show(answer, () => `Removed file ${overlay}.`);
    },
  }),
  command("package list <base>", {
    tool: "reads",
    summary: "List your own packages for a base system",
    act: async ({ client, show, paint }, { base }) => {
      const answer = await client.call("listRpms", { base_system: base });
      const rows = answer.rpms.map(({ id, filename, size, archive }) => {
        return [id, filename, bytes(size), archive ? "archive" : "package"];
      });
      show(answer, () => table(paint, ["ID", "FILE", "SIZE", "KIND"], rows));
    },
  }),
  command("package add <base> <file>", {
    summary: "Upload a package, or a tarball of packages",
    details: "The packages of one base system are your user repository. --appliance adds it to an appliance.",
    options: { appliance: value("appliance", "the appliance that gets your user repository") },
    examples: ["kiln package add tiny-1.0 webdemo-2.3-1.noarch.rpm --appliance First"],
    act: async (kiln, { base, file, appliance }) => {
      const rpm = await addPackage(kiln, base, file);
      if (appliance !== undefined)
        await kiln.client.call("addUserRepository", { appliance_id: await applianceId(kiln.client, appliance) });
      kiln.show({ rpm }, () => `${rpm.filename} is package ${rpm.id} of ${rpm.base_system}.`);
    },
  }),
  command("package remove <upload>", {
    summary: "Delete one of your packages",
    act: async ({ client, show }, { upload }) => {
      const answer = await client.call("deleteRpm", { rpm_id: numberOf(upload, "package") });
      show(answer, () => `Deleted package ${upload}.`);
    },
  }),
];

export const pathOf = ({ path, filename }: { path: string; filename: string }) =>
  `${path.replace(/\/$/, "")}/${filename}`;

async function addFile(client: Client, path: string, request: RequestOf<"addFile">): Promise<AnswerOf<"addFile">> {
  if (fitsOneRequest(await sizeOf(path))) return await client.call("addFile", { ...request, body: await fileOf(path) });
  const { file_id: id = 0 } = await uploadInPieces(client, path, request, barOf(path));
  return await client.call("getFile", { file_id: id });
}

async function addPackage({ client }: Kiln, base: string, path: string): Promise<AnswerOf<"getRpm">["rpm"]> {
  const to = { base_system: base };
  if (fitsOneRequest(await sizeOf(path)))
    return (await client.call("uploadRpm", { ...to, body: await fileOf(path) })).rpm;
  const { rpm_id: id = 0 } = await uploadInPieces(client, path, to, barOf(path));
  return (await client.call("getRpm", { rpm_id: id })).rpm;
}

function barOf(path: string) {
  const show = transferBar(basename(path));
  return (arrived: number, whole: number) => show("Uploading", arrived, whole);
}

/** @param flag `wx` never replaces a file, because the user has not chosen its name */
function write(file: string, content: Buffer, flag: "w" | "wx"): void {
  try {
    writeFileSync(file, content, { flag });
  } catch (error) {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    const reason = isThere ? "already exists" : "cannot be written";
    throw new Complaint("refused", `${file} ${reason}.`, "Choose another name with --output.");
  }
}
