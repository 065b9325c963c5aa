import { Button, Modal, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { ScimTokenView } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { commercial } from '../commercial/client.ts';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Choice } from '../parts/choice.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { EndableTable } from '../parts/endable-table.tsx';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import type { Identity } from './use-identity.ts';

/** The address and the tokens with which an identity provider provisions people and groups. */
export function Scim({ identity: { settings } }: { identity: Identity }) {
  const { org_id: orgId, scim_tokens: tokens } = settings;
  const [isOpen, dialog] = useDisclosure();
  const [revoked, setRevoked] = useState<ScimTokenView | null>(null);
  const readAgain = useReadAgain();
  useShortcuts([{ keys: 's', says: 'Create a SCIM token', run: dialog.open }]);
  return (
    <section aria-label="SCIM">
      <h2>SCIM</h2>
      <dl className="facts">
        <dt>Address for the identity provider</dt>
        <dd>
          <CopyText text={`${location.origin}/scim/v2`} whole />
        </dd>
      </dl>
      {tokens.length === 0 ? (
        <p className="quiet after-table">
          No tokens yet. The identity provider sends a token with each request. Groups of the provider become roles by
          the mappings below.
        </p>
      ) : (
        <Tokens tokens={tokens} onRevoke={setRevoked} />
      )}
      <p className="after-table">
        <Button variant="default" onClick={dialog.open}>
          Create SCIM token
        </Button>
      </p>
      <Modal opened={isOpen} onClose={dialog.close} title="Create SCIM token">
        {isOpen && <TokenForm orgId={orgId} />}
      </Modal>
      <ConfirmDialog
        question={
          revoked && {
            title: 'Revoke SCIM token',
            says: `The identity provider is refused with the token ${revoked.name} from the next request on. People stay as they are.`,
            act: 'Revoke token',
            run: () => commercial.revokeScimToken({ params: { token_id: revoked.token_id }, query: { org_id: orgId } }),
          }
        }
        onClose={() => setRevoked(null)}
        onDone={() => void readAgain()}
      />
    </section>
  );
}

type TokensProps = { tokens: readonly ScimTokenView[]; onRevoke: (token: ScimTokenView) => void };

function Tokens({ tokens, onRevoke }: TokensProps) {
  return (
    <div className="after-table">
      <EndableTable label="SCIM tokens" columns={['Token', 'Created', 'Last used', 'Ends']} hasCards>
        {tokens.map((token) => (
          <tr key={token.token_id} data-id={token.token_id}>
            <td data-name="Token">
              <Shown text={token.name} />
            </td>
            <td data-name="Created">
              <Moment at={token.created_at} />
            </td>
            <td data-name="Last used">{token.last_used_at === null ? 'never' : <Moment at={token.last_used_at} />}</td>
            <td data-name="Ends">
              <Moment at={token.expires_at} />
            </td>
            <td className="tight">
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`Revoke token ${token.name}`}
                onClick={() => onRevoke(token)}
              >
                Revoke
              </Button>
            </td>
          </tr>
        ))}
      </EndableTable>
    </div>
  );
}

const lifetimes = [30, 90, 365].map((days) => ({ id: days, name: `${days} days` }));

function TokenForm({ orgId }: { orgId: OrgId }) {
  const readAgain = useReadAgain();
  const [name, setName] = useState('');
  const [days, setDays] = useState(365);
  const create = useMutation({
    mutationFn: async () =>
      (
        await commercial.createScimToken({
          query: { org_id: orgId },
          body: { name: name.trim(), expires_in_days: days },
        })
      ).body,
    onSuccess: readAgain,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  if (create.data !== undefined)
    return (
      <ShownOnce label="The token" text={create.data.secret}>
        Paste it into the SCIM settings of the identity provider.
      </ShownOnce>
    );
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Name"
        description="The identity provider that uses the token."
        required
        withAsterisk={false}
        maxLength={128}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Choice label="Ends after" value={days} options={lifetimes} onChange={setDays} />
      {create.error !== null && <ProblemNote error={create.error} />}
      <Button type="submit" disabled={name.trim() === ''} loading={create.isPending}>
        Create SCIM token
      </Button>
    </form>
  );
}
