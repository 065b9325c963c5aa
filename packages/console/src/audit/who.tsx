import { createContext, use } from 'react';
import { anonymousActor, ownActor } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Shown } from '../parts/shown.tsx';

/** Names of the members, by the id of the person. */
export const NamesContext = createContext<ReadonlyMap<string, string>>(new Map());

const ownNames: ReadonlyMap<string, string> = new Map([
  [ownActor, 'Countersign'],
  [anonymousActor, 'Not signed in'],
]);

/** A person by name. The id stays in the title; what has no name here is shown by its id. */
export function Who({ actor }: { actor: string }) {
  const name = use(NamesContext).get(actor) ?? ownNames.get(actor);
  if (name === undefined) return <CopyText text={actor} />;
  return (
    <span title={actor}>
      <Shown text={name} />
    </span>
  );
}
