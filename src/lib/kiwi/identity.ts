import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";
import { shellQuote } from "#lib/kiwi/shell";

/** /etc/kiln-release, for users and scripts in the image, and the installation profile at the path where AutoYaST looks. */
export const identityPart = ({ title, version, description, website, scripts }: IdentityFacts): Part => ({
  files: {
    "root/etc/kiln-release": linesOf(
      `NAME=${shellQuote(title)}`,
      `VERSION=${shellQuote(version)}`,
      `DESCRIPTION=${shellQuote(description)}`,
      `WEBSITE=${shellQuote(website)}`,
    ),
    ...(scripts.autoyast.enabled && scripts.autoyast.script !== "" && { "root/autoinst.xml": scripts.autoyast.script }),
  },
});

type IdentityFacts = Pick<ImageFacts, "title" | "version" | "description" | "website" | "scripts">;
