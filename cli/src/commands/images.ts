import { command, flag, value } from "../command.ts";
import { builtImages, imagesInChannel } from "../download/find.ts";
import { downloadImage, linkOf, type Downloaded } from "../download/image.ts";
import { storedLogins } from "../login/login.ts";
import { transferBar } from "../output/progress.ts";
import { withoutHashes } from "../output/secrets.ts";
import { facts, moment, visible } from "../output/table.ts";
import type { Painter } from "../output/painter.ts";
import { applianceId, buildId } from "../resolve.ts";
import { Complaint } from "../complaint.ts";
import { readText } from "../files.ts";
import { checkLog } from "../verify/history.ts";
import { verifyImage, type Verified } from "../verify/image.ts";
import { rebuildsText, type Rebuild } from "../verify/rebuilds.ts";
import { trustedKeys } from "../verify/keys.ts";

const key = value("file", "public key of the service in PEM, in place of the pinned ones; or KILN_KEY");

export const images = [
  command("download <build>", {
    summary: "Download an image, and verify it",
    details:
      "An interrupted download continues where it stopped, even when you run the command again. Checksum and signature are " +
      "verified with the pinned key of the service. The bills of materials and the signed provenance come with the image, and " +
      "for a published one the proof that the public log has it.",
    options: {
      output: value("directory", "where to put the files; the default is this folder"),
      version: value("version", "the image of this version of the appliance; the default is the newest"),
      all: flag("the images of all types that this version has"),
      channel: value("channel", "the image that this channel has; <build> may then be an appliance of the gallery"),
      key,
      force: flag("replace another file of the same name"),
      unverified: flag("compare only the checksum, if the service signs nothing, or you do not have its key"),
    },
    examples: [
      "kiln download First",
      "kiln download 12 --output images",
      "kiln download First --all --version 0.0.1",
      "kiln download 1004:iso --channel stable",
    ],
    act: async (
      kiln,
      { build: given, output: folder = ".", version, all, channel, key: keyFile, force, unverified },
    ) => {
      const keys = unverified ? undefined : trustedKeys(keyFile, kiln.login.keys);
      const wanted = { version, isAll: all };
      const found =
        channel === undefined
          ? await builtImages(kiln.client, given, wanted)
          : await imagesInChannel(kiln.client, given, { channel, ...wanted });
      const images: Downloaded[] = [];
      for (const image of found) {
        const show = transferBar("image");
        images.push(
          await downloadImage({ image, folder, service: kiln.login.url, keys, force }, (arrived, whole, state) =>
            show(state === "waiting" ? "Waiting for the service" : "Downloading", arrived, whole),
          ),
        );
      }
      const told = images.map(({ file, verified, use }) => ({ file, verified: verified ?? false, use }));
      kiln.show(all ? { images: told } : { ...told[0] }, () =>
        images.map((one) => downloadedText(kiln.paint, one)).join("\n\n"),
      );
    },
  }),
  command("link <build>", {
    tool: "reads",
    summary: "Print the address of an image, which needs no key",
    details: "Everyone who knows the address can download the image. `kiln download` also verifies it.",
    examples: ['curl -fO "$(kiln link First:iso)"'],
    act: async ({ client, show }, { build: given }) => {
      const answer = await client.call("getBuild", { build_id: await buildId(client, given) });
      const url = linkOf(answer.build);
      show(answer, () => url);
    },
  }),
  command("manifest <appliance>", {
    tool: "reads",
    summary: "Print what the newest build of an appliance was made of, as XML",
    details:
      "It has the KIWI description, and what KIWI cannot describe. `kiln import` reads it. Password hashes are omitted.",
    options: {
      showSecrets: flag("include the hashes of passwords"),
      type: value("types", "of this image type; the default is the appliance's"),
      version: value("version", "of this version; the default is the newest"),
    },
    examples: ["kiln manifest First > first.xml && kiln import first.xml"],
    act: async ({ client, show }, { appliance, type, version, showSecrets }) => {
      const id = { appliance_id: await applianceId(client, appliance) };
      const image_type = type ?? (await client.call("getAppliance", id)).appliance.type;
      const answer = await client.call("getManifest", { ...id, image_type, version });
      const whole = await answer.text();
      const manifest = showSecrets ? whole : withoutHashes(whole);
      show({ manifest }, () => manifest.trimEnd());
    },
  }),
  command("verify <file>", {
    summary: "Verify a downloaded image without asking the service",
    details:
      "Compares the image and both bills of materials with the signed provenance, whose signature must be by a key that " +
      "you pinned with `kiln login`. A key that comes along with the file is not trusted. If the proof that the public log " +
      "has the image is next to it, that is verified, too, and so are statements about rebuilds. The exit code is 6 if anything does not match.",
    options: {
      key,
      logged: flag("fail unless there is a proof that the public log has the image"),
      rebuilt: flag("fail unless another builder has built the same bytes"),
    },
    examples: ["kiln verify First.x86_64-0.0.1.oem.tar.gz"],
    act: async ({ show, paint }, { file, key: keyFile, logged, rebuilt }) => {
      const pinned = storedLogins().flatMap(({ keys }) => keys);
      const verified = await verifyImage(file, trustedKeys(keyFile, pinned));
      if (logged && !verified.log) throw notLogged(file);
      if (rebuilt && !verified.rebuilds?.some(isConfirmed)) throw notRebuilt(file);
      show({ verified }, () => `${shown(paint, verified)}\n\n${file} is verified.`);
    },
  }),
  command("log check", {
    tool: "reads",
    summary: "Check that the public log of published images only grows",
    details:
      "Compares the log with the checkpoint that this machine kept when it last saw it, and keeps the new one. The exit " +
      "code is 6 if an entry has changed or is gone. `--json` prints the signed checkpoint.",
    options: {
      key,
      since: value("file", "compare with the checkpoint in this file, too: one that you stored elsewhere"),
    },
    examples: ["kiln log check", "kiln log check --json | jq -r .checkpoint > today.checkpoint"],
    act: async ({ login, show }, { key: keyFile, since }) => {
      const others = since === undefined ? [] : [storedNote(since)];
      const { now, note, kept } = await checkLog(login.url, trustedKeys(keyFile, login.keys), others);
      const { origin: log, size } = now;
      show({ log, size, kept: kept ?? null, checkpoint: note }, () => logText({ log, size, kept }, since));
    },
  }),
];

/** A stored checkpoint. `jq -r` adds a line break to the one at its end, which would be a wrong note. */
const storedNote = (file: string): string =>
  readText(file, "--since must name a file with a checkpoint.").replace(/\n+$/, "\n");

const logText = (
  { log, size, kept }: { log: string; size: number; kept: number | undefined },
  since: string | undefined,
): string =>
  [
    `The log ${visible(log)} has ${entries(size)}.`,
    kept === undefined
      ? "Its checkpoint was kept for the next check."
      : `It begins with the ${entries(kept)} that this machine has seen.`,
    ...(since === undefined ? [] : [`It begins with the entries of ${since}.`]),
  ].join("\n");

const entries = (count: number): string => (count === 1 ? "1 entry" : `${count} entries`);

const notLogged = (file: string): Complaint =>
  new Complaint(
    "unverified",
    `There is no proof that the public log has ${file}.`,
    "Only published images are in the log. `kiln download` fetches the proof with the image.",
  );

const isConfirmed = ({ result, by_other_agent: other }: Rebuild): boolean => result === "same" && other === true;

const notRebuilt = (file: string): Complaint =>
  new Complaint(
    "unverified",
    `There is no statement that another builder has built the same bytes as ${file}.`,
    "The owner of the appliance can ask for one: `kiln rebuild BUILD`. `kiln download` fetches it with the image.",
  );

function shown(paint: Painter, one: Verified): string {
  const [pinnedBy] = storedLogins().filter(({ keys }) => keys.some(({ kid }) => kid === one.key));
  return facts(paint, {
    Image: one.file,
    Appliance: `${one.appliance} ${one.version}, ${one.image_type} for ${one.arch}`,
    Built: `${moment(one.finished_at)}, build ${one.build_id} of ${one.builder}`,
    "Signed by": `${one.key}${pinnedBy ? `, pinned for ${pinnedBy.url}` : ""}`,
    "SHA-256": one.sha256,
    Rebuilt: rebuildsText(one.rebuilds),
    "Public log": one.log ? `entry ${one.log.position} of ${one.log.log}` : "no proof came with the image",
  });
}

const downloadedText = (paint: Painter, { file, verified, use }: Downloaded): string =>
  [
    ...(verified
      ? [shown(paint, verified), `${file} is verified.`]
      : [`${file} is complete. Its signature was not verified.`]),
    ...(use ? [visible(use.what), ...use.ways.map(wayText)] : []),
  ].join("\n\n");

const wayText = ({ title, note, lines }: NonNullable<Downloaded["use"]>["ways"][number]): string =>
  [
    `${visible(title)}:`,
    ...(note === undefined ? [] : [`  ${visible(note)}`]),
    ...lines.map((line) => `    ${visible(line)}`),
  ].join("\n");
