import type { Context } from "hono";
import { loginsOf, type Login } from "#domain/configuration/known-passwords";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import { findAnyBuild, type Build } from "#storage/builds";
import { findPublication } from "#storage/publications";
import type { Testdrive } from "#storage/testdrives";
import type { WebEnv } from "../../factory.ts";
import { personOf } from "../../session.ts";
import { applianceAt } from "../appliance/with-appliance.ts";
import { galleryAt } from "../gallery/card.tsx";

/** The image that runs in a testdrive, and the viewer's rights in addition to watching and typing. */
export interface Subject {
  /** Undefined if its appliance has been deleted. */
  name: string | undefined;
  build: Build | undefined;
  /** The page of the appliance, or of the published version. */
  home: string | undefined;
  /** The form that starts a new testdrive. */
  again: { action: string; fields: Record<string, number> } | undefined;
  /** The machine's logins, if the viewer has started the testdrive. */
  logins: readonly Login[];
  /** Whether the viewer has started the testdrive. */
  isOwn: boolean;
  /** Whether the viewer also owns the appliance, and so can keep files in it. */
  mayKeep: boolean;
}

export async function subjectOf(c: Context<WebEnv>, testdrive: Testdrive): Promise<Subject> {
  const { db } = c.var;
  const [person, build] = await Promise.all([personOf(c), findAnyBuild(db, testdrive.buildId)]);
  const appliance = build && (await findAnyAppliance(db, build.applianceId));
  const isOwn = person?.account.id === testdrive.accountId;
  const mayKeep = isOwn && appliance?.accountId === testdrive.accountId;
  const seen = { name: appliance?.name, build, isOwn, mayKeep, logins: [] };
  if (!build || !appliance) return { ...seen, home: undefined, again: undefined };
  if (mayKeep) {
    return {
      ...seen,
      logins: await ownLogins(c, appliance, build),
      home: applianceAt(appliance.id, ""),
      again: { action: "/testdrives", fields: { build_id: build.id } },
    };
  }
  const publication = await findPublication(db, appliance.id, build.version);
  const home = publication && galleryAt(appliance.id, build.version);
  return {
    ...seen,
    logins: isOwn ? (publication?.definition.accounts ?? []) : [],
    home,
    again: isOwn && home !== undefined ? { action: `${home}/testdrive`, fields: {} } : undefined,
  };
}

/** The owner's logins. After a change of the appliance, only the names, because the image may have other passwords. */
async function ownLogins(c: Context<WebEnv>, appliance: Appliance, build: Build): Promise<Login[]> {
  const logins = await loginsOf({ env: c.env, db: c.var.db }, appliance);
  if (appliance.lastEditedAt <= build.createdAt) return logins;
  return logins.map(({ user }) => ({ user, password: "" }));
}

/** "Reading room 0.0.2" */
export const titleOf = ({ name, build }: Subject): string =>
  name === undefined || !build ? "a deleted appliance" : `${name} ${build.version}`;
