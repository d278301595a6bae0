import { lastingAddress } from "#documents/channel";
import type { ShownChannel } from "#domain/channels/channels";
import { CopyButton } from "./button.tsx";
import { TypeBadge } from "./state.tsx";

interface Props {
  channel: ShownChannel;
  /** The URL of the service. */
  baseUrl: string;
}

/** The addresses that always lead to the images at the head of a channel, to copy. */
export const ChannelAddresses = ({ channel, baseUrl }: Props) => (
  <ul class="plain stack-s">
    {channel.images.map(({ imageType }) => {
      const id = `channel-${channel.name}-${imageType}`;
      const address = lastingAddress(channel, imageType);
      return (
        <li class="row">
          <TypeBadge type={imageType} />
          <a class="breaks mono small-text" id={id} href={address} download>
            {baseUrl + address}
          </a>
          <CopyButton of={id} words="Copy" look="small plain" about={`the address of ${channel.name}, ${imageType}`} />
        </li>
      );
    })}
  </ul>
);
