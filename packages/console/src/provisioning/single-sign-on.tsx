import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { IdentitySettings } from '@countersign/contracts/commercial-gateway';
import { providersQuery } from '../api/queries.ts';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { Choice } from '../parts/choice.tsx';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { sendChange, useChangeIdentity, type Identity } from './use-identity.ts';

type Props = { identity: Identity; names: ReadonlyMap<string, string> };

/** The identity provider, and whether people of the verified domains must use it. */
export function SingleSignOn({ identity, names }: Props) {
  const { sso_required: isRequired, break_glass_user_id: owner } = identity.settings;
  const ownerName = names.get(owner);
  return (
    <section aria-label="Single sign-on">
      <h2>Single sign-on</h2>
      <div className="panel-card">
        <Connection identity={identity} />
        <dl className="facts">
          <dt>Required</dt>
          <dd>{isRequired ? <Mark tone="good">Required</Mark> : <Mark tone="plain">Optional</Mark>}</dd>
          <dt>Break-glass owner</dt>
          <dd>
            {ownerName === undefined ? <CopyText text={owner} /> : <Shown text={ownerName} />} can always sign in with a
            passkey, even while the identity provider is away.
          </dd>
        </dl>
        <Requirement identity={identity} />
      </div>
    </section>
  );
}

function Connection({ identity }: { identity: Identity }) {
  const { oidc_connection_id: current } = identity.settings;
  const providers = useQuery(providersQuery);
  const change = useChangeIdentity(identity);
  return (
    <Loaded query={providers}>
      {(found) =>
        found.length === 0 ? (
          <p className="quiet">No OIDC connection yet. The operator of the installation connects providers.</p>
        ) : (
          <>
            <Choice
              label="OIDC connection"
              value={current ?? ''}
              options={[
                { id: '', name: 'None' },
                ...found.map(({ connection_id, name }) => ({ id: connection_id, name })),
              ]}
              onChange={(id) =>
                change.mutate({
                  oidc_connection_id: found.find(({ connection_id }) => connection_id === id)?.connection_id ?? null,
                })
              }
            />
            {change.error !== null && <ProblemNote error={change.error} />}
          </>
        )
      }
    </Loaded>
  );
}

function Requirement({ identity }: { identity: Identity }) {
  const { sso_required: isRequired } = identity.settings;
  const [isAsked, setAsked] = useState(false);
  const readAgain = useReadAgain();
  const missing = missingOf(identity.settings);
  return (
    <>
      {!isRequired && missing.length > 0 && <p className="quiet">To require it: {missing.join(', and ')}.</p>}
      <p className="actions">
        <Button size="xs" variant="default" disabled={!isRequired && missing.length > 0} onClick={() => setAsked(true)}>
          {isRequired ? 'Make optional' : 'Require single sign-on'}
        </Button>
      </p>
      <ConfirmDialog
        question={
          isAsked
            ? {
                title: isRequired ? 'Make single sign-on optional' : 'Require single sign-on',
                says: isRequired
                  ? 'People of the verified domains can sign in with codes and passkeys again.'
                  : 'People of the verified domains can then sign in only through the connection, and no longer with codes or passkeys. Their sessions end. Their API keys stay valid. The break-glass owner can still sign in with a passkey.',
                act: isRequired ? 'Make optional' : 'Require single sign-on',
                run: () => sendChange(identity, { sso_required: !isRequired }),
              }
            : null
        }
        onClose={() => setAsked(false)}
        onDone={() => void readAgain()}
      />
    </>
  );
}

function missingOf({ oidc_connection_id: connection, domains }: IdentitySettings): string[] {
  return [
    ...(connection === null ? ['choose an OIDC connection'] : []),
    ...(domains.some(({ status }) => status === 'verified') ? [] : ['verify a domain']),
  ];
}
