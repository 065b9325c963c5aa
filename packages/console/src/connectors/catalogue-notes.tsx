import { EmptyState } from '../parts/empty-state.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';

/** Signs the connectors that are part of the product, with a new key. */
const signCommand = [
  'openssl genpkey -algorithm ed25519 -out catalogue-key.pem',
  'make catalogue key=catalogue-key.pem out="$PWD/connectors.json"',
].join('\n');

const afterwards =
  'The command prints GOV_CONNECTOR_CATALOGUE and GOV_CATALOGUE_KEYS. The operator sets both for the control plane.';

export function NoCatalogue() {
  return (
    <EmptyState title="No catalogue yet" command={signCommand}>
      Connectors come from a catalogue that the operator of this installation signs. None is configured, or it has no
      entries. {afterwards}
    </EmptyState>
  );
}

/** None of the entries is used, because each of them may be altered. */
export function RefusedCatalogue({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <>
      <ProblemNote error={error} retry={retry} />
      <EmptyState title="The catalogue is not used" command={signCommand}>
        Its signature or a hash does not match, so no connector can be installed. Installed connectors stay as they are.
        If the change was intended, the operator signs the catalogue again. {afterwards}
      </EmptyState>
    </>
  );
}
