import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import type { IdentitySettings } from '@countersign/contracts/commercial-gateway';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { sendChange, useChangeIdentity, type Identity } from './use-identity.ts';

type Domain = IdentitySettings['domains'][number];

/** Domains whose addresses belong to the organisation, proven by a TXT record. */
export function Domains({ identity }: { identity: Identity }) {
  const { domains } = identity.settings;
  const readAgain = useReadAgain();
  const check = useChangeIdentity(identity);
  const [removed, setRemoved] = useState<string | null>(null);
  const names = domains.map(({ domain }) => domain);
  return (
    <section aria-label="Domains">
      <h2>Domains</h2>
      {domains.length === 0 ? (
        <p className="quiet">
          No domains yet. Single sign-on and SCIM are for people whose address is in a verified domain. Add your domain,
          then publish the TXT record that is shown here.
        </p>
      ) : (
        <DomainTable
          domains={domains}
          isChecking={check.isPending}
          onCheck={() => check.mutate({})}
          onRemove={setRemoved}
        />
      )}
      {check.error !== null && <ProblemNote error={check.error} />}
      <AddDomain identity={identity} />
      <ConfirmDialog
        question={
          removed === null
            ? null
            : {
                title: 'Remove domain',
                says: `People of ${removed} no longer need single sign-on, and SCIM cannot provision them.`,
                act: `Remove ${removed}`,
                typed: removed,
                run: () => sendChange(identity, { domains: names.filter((name) => name !== removed) }),
              }
        }
        onClose={() => setRemoved(null)}
        onDone={() => void readAgain()}
      />
    </section>
  );
}

type TableProps = {
  domains: readonly Domain[];
  isChecking: boolean;
  onCheck: () => void;
  onRemove: (domain: string) => void;
};

function DomainTable({ domains, isChecking, onCheck, onRemove }: TableProps) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Domains of the organisation">
      <table className="cards">
        <thead>
          <tr>
            <th>Domain</th>
            <th>State</th>
            <th>TXT record: name</th>
            <th>TXT record: value</th>
            <th>
              <span className="hidden">Act</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {domains.map(({ domain, status, challenge }) => (
            <tr key={domain} data-id={domain}>
              <td data-name="Domain">
                <strong>{domain}</strong>
              </td>
              <td data-name="State">
                {status === 'verified' ? <Mark tone="good">Verified</Mark> : <Mark tone="wait">Waiting for DNS</Mark>}
              </td>
              <td data-name="Name">
                <CopyText text={challenge.name} whole />
              </td>
              <td data-name="Value">
                <CopyText text={challenge.value} whole />
              </td>
              <td className="tight">
                <span className="actions">
                  {status === 'pending' && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      aria-label={`Check DNS of ${domain}`}
                      loading={isChecking}
                      onClick={onCheck}
                    >
                      Check DNS
                    </Button>
                  )}
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Remove ${domain}`}
                    onClick={() => onRemove(domain)}
                  >
                    Remove
                  </Button>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AddDomain({ identity }: { identity: Identity }) {
  const [field, setField] = useState<HTMLInputElement | null>(null);
  const [domain, setDomain] = useState('');
  const add = useChangeIdentity(identity, () => setDomain(''));
  useShortcuts([{ keys: 'n', says: 'Add a domain', run: () => field?.focus() }]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const claimed = identity.settings.domains.map((one) => one.domain);
    add.mutate({ domains: [...claimed, domain.trim().toLowerCase()] });
  };
  return (
    <>
      <form className="in-line" onSubmit={submit}>
        <TextInput
          ref={setField}
          label="Domain"
          placeholder="example.com"
          required
          withAsterisk={false}
          autoComplete="off"
          spellCheck={false}
          maxLength={253}
          value={domain}
          onChange={({ target }) => setDomain(target.value)}
        />
        <Button type="submit" variant="default" disabled={domain.trim() === ''} loading={add.isPending}>
          Add domain
        </Button>
      </form>
      {add.error !== null && <ProblemNote error={add.error} />}
    </>
  );
}
