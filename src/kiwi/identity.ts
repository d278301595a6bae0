import type { ImageFacts } from "#kiwi/facts";
import { linesOf, type Part } from "#kiwi/part";
import { shellQuote } from "#kiwi/shell-quote";

/** What the image is, for people and scripts inside it; and its installation profile, where AutoYaST looks for it. */
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
