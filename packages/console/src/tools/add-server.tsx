import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ServerDocument } from '@countersign/contracts/governance-kernel';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Shown } from '../parts/shown.tsx';
import { Findings } from './findings.tsx';
import { useRegistry } from './use-registry.ts';

type Props = { onClose: () => void; onAdded: () => void };

/** Adds servers by a URL, or by the configuration of an MCP client. */
export function AddServer({ onClose, onAdded }: Props) {
  return (
    <Modal opened onClose={onClose} title="Add server">
      <Form onAdded={onAdded} />
    </Modal>
  );
}

function Form({ onAdded }: Pick<Props, 'onAdded'>) {
  const registry = useRegistry();
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const add = useMutation({
    mutationFn: async (body: ServerDocument) => (await registry.registerMcpServer({ query: {}, body })).body.servers,
    onSuccess: onAdded,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = documentOf(text, name);
    setFault(typeof read === 'string' ? read : null);
    if (typeof read !== 'string') add.mutate(read);
  };
  if (add.data !== undefined) return <Added servers={add.data} />;
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Name"
        description="Tools are called by this name: name.tool. Leave it empty when you paste JSON that has names."
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <label className="stacked-label">
        <span>URL or JSON</span>
        <textarea
          required
          rows={6}
          spellCheck={false}
          placeholder="https://mcp.example.com/mcp"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      {fault !== null && (
        <p className="note note-problem" role="alert">
          {fault}
        </p>
      )}
      {add.error !== null && <ProblemNote error={add.error} />}
      <Button type="submit" loading={add.isPending}>
        Add server
      </Button>
    </form>
  );
}

type AddedServers = Awaited<ReturnType<ReturnType<typeof useRegistry>['registerMcpServer']>>['body']['servers'];

function Added({ servers }: { servers: AddedServers }) {
  return (
    <div className="stacked" role="status">
      {servers.map(({ server_id, findings, problem }) => (
        <section key={server_id} aria-label={server_id}>
          <p>
            <strong>
              <Shown text={server_id} />
            </strong>{' '}
            is added, in quarantine. No call of its tools is sent until it is approved.
          </p>
          <Findings findings={findings} problem={problem} />
        </section>
      ))}
    </div>
  );
}

const textMax = 100_000;

/** The typed URL or pasted JSON as a document for the kernel, or a sentence that states why it is neither. */
export function documentOf(text: string, name: string): ServerDocument | string {
  const trimmed = text.trim();
  if (trimmed.length > textMax)
    return `The text has ${trimmed.length} characters (limit ${textMax}). Paste one server.`;
  const id = name.trim();
  const named = id === '' ? {} : { server_id: id };
  const value = trimmed.startsWith('{') ? jsonOf(trimmed) : { url: trimmed };
  if (value === null) return 'The JSON has a fault. Paste the whole configuration, from { to }.';
  const document = isRegistryEntry(value) ? { server_json: value } : value;
  const parsed = ServerDocument.safeParse({ ...named, ...document });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `This does not describe a server: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(' ')}. Paste a URL, or JSON with mcpServers, servers or url.`;
}

function jsonOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A `server.json` of the official registry contains `packages` or `remotes`. */
function isRegistryEntry(value: object): boolean {
  return 'remotes' in value || 'packages' in value;
}
