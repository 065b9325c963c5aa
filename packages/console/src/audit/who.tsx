import { anonymousActor, ownActor } from '@countersign/contracts/control-plane';
import { Shown } from '../parts/shown.tsx';
import { Who as Caller } from '../parts/who.tsx';

const ownNames: ReadonlyMap<string, string> = new Map([
  [ownActor, 'Countersign'],
  [anonymousActor, 'Not signed in'],
]);

/** The name of a caller or of a service. The tooltip shows the id. */
export function Who({ actor }: { actor: string }) {
  const name = ownNames.get(actor);
  if (name === undefined) return <Caller actor={actor} />;
  return (
    <span title={actor}>
      <Shown text={name} />
    </span>
  );
}
