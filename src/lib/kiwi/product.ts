import type { ImageFacts } from "#lib/kiwi/facts";
import type { Part } from "#lib/kiwi/part";
import { shellCommand } from "#lib/kiwi/shell";

/** Marks the installed product that is the system itself, as an installer does. zypper and registration tools need it. */
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
