import type { ImageFacts } from "#lib/kiwi/facts";
import { linesOf, type Part } from "#lib/kiwi/part";
import { shellQuote } from "#lib/contract/shell-quote";
import { shellCommand } from "#lib/kiwi/shell";

/**
 * Writes /etc/kiln-release for users and scripts in the image, and the installation profile where AutoYaST expects it.
 */
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

/**
 * Marks the installed product that is the system itself, as an installer does. zypper and registration tools need it.
 */
export const productPart = ({ product }: Pick<ImageFacts, "product">): Part =>
  product === undefined ? {} : { commands: [shellCommand("set_base_product", product)] };

/** Functions of config.sh. */
export const productFunctions = String.raw`
set_base_product() {
  if [ -e "/etc/products.d/$1.prod" ]; then ln -sfn "$1.prod" /etc/products.d/baseproduct
  else note "the image has no product $1: no package of it is installed"
  fi
}
`;
