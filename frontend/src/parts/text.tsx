/** The only ways a text of unknown origin reaches the page: as text nodes, isolated from the direction around it. */

import { clip, counted, pieces } from "../model/text";

interface Props {
  readonly of: string;
  readonly max?: number;
  readonly class?: string;
}

/** One line of it: a name, a source, a reason. */
export function Line({ of, max = 160, class: name = "" }: Props) {
  const { shown, rest } = clip(of, max);
  return (
    <bdi class={`line ${name}`}>
      <Pieces of={shown} prose={false} />
      {rest > 0 && <span class="rest">… {counted(rest, "more character")}</span>}
    </bdi>
  );
}

/** Text with lines: a description, a stderr tail, a schema. */
export function Prose({ of, max = 4000, class: name = "" }: Props) {
  const { shown, rest } = clip(of, max);
  return (
    <div class={`prose ${name}`} dir="auto">
      <Pieces of={shown} prose={true} />
      {rest > 0 && <span class="rest">… {counted(rest, "more character")}</span>}
    </div>
  );
}

function Pieces({ of, prose }: { readonly of: string; readonly prose: boolean }) {
  return (
    <>
      {pieces(of, prose).map((piece) =>
        piece.named ? (
          <span class="named" title="A character that would not be seen">
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}
