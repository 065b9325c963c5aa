import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import type { Connector } from '@countersign/contracts/control-plane';
import { useShortcuts } from '../keys/shortcuts.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { readName } from '../parts/typed-name.ts';
import { useMarketplace, useReadAgain } from './use-marketplace.ts';

type Props = { entry: Connector; act: 'Install' | 'Update' };

/** The credentials that a connector accepts, and the button that installs it. The browser stores no credential. */
export function InstallForm({ entry, act }: Props) {
  const { connector_id: connectorId, title, version, headers } = entry;
  const client = useMarketplace();
  const readAgain = useReadAgain();
  const form = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const install = useMutation({
    mutationFn: () =>
      client.installConnector({
        params: { connector_id: connectorId },
        body: { version, headers: filledIn(values) },
      }),
    // The catalogue is also read again after a refusal, because it may have another version now.
    onSettled: readAgain,
  });
  const focusFirst = () => form.current?.querySelector<HTMLElement>('input, button')?.focus();
  useShortcuts([{ keys: 'i', says: `${act} this connector`, run: focusFirst }]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    install.mutate();
  };
  return (
    <form ref={form} className="stacked narrow" onSubmit={submit}>
      {headers.length === 0 && <p className="quiet">It accepts no credentials.</p>}
      {headers.map((header) => (
        <HeaderField
          key={header.name}
          header={header}
          value={values[header.name] ?? ''}
          onChange={(value) => setValues((before) => ({ ...before, [header.name]: value }))}
        />
      ))}
      {headers.length > 0 && (
        <p className="quiet">
          Only the kernel stores these values, in encrypted form.
          {act === 'Update' && ' Enter them again for the update.'}
        </p>
      )}
      {install.error !== null && <ProblemNote error={install.error} />}
      <div>
        <Button type="submit" loading={install.isPending}>
          {`${act} ${readName(title)}`}
        </Button>
      </div>
    </form>
  );
}

type FieldProps = { header: Connector['headers'][number]; value: string; onChange: (value: string) => void };

function HeaderField({ header: { name, description, is_required, is_secret }, value, onChange }: FieldProps) {
  return (
    <TextInput
      label={is_required ? readName(name) : `${readName(name)} (optional)`}
      description={description === null ? undefined : readName(description)}
      type={is_secret ? 'password' : 'text'}
      required={is_required}
      withAsterisk={false}
      maxLength={4_096}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function filledIn(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}
