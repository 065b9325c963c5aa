import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { use, useState, type KeyboardEvent } from 'react';
import { visibleText } from '@countersign/contracts';
import { workspaceClient } from '../api/clients.ts';
import { pages } from '../pages.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useNamedObjects } from './named-objects.ts';
import { idRoutes, pageOfId } from './page-of-id.ts';
import { useSignOut } from './person-menu.tsx';
import { useSwitch, WorkspaceContext, type Me } from '../workspace/open-workspace.ts';

type Command = { id: string; says: string; run(): void };
type Search = { found: Command[]; fault: unknown };
type Props = { me: Me; isOpen: boolean; onClose: () => void };

/** All pages, workspaces and actions of the shell, by name. */
export function Palette({ me, isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Search" padding="sm">
      <Finder commands={useCommands(me)} onChosen={onClose} />
    </Modal>
  );
}

function useCommands({ workspaces }: Me): Command[] {
  const navigate = useNavigate();
  const open = useSwitch();
  const leave = useSignOut();
  return [
    ...pages.map(({ path, title }) => ({
      id: path,
      says: `Go to ${title}`,
      run: () => void navigate({ to: `/${path}` }),
    })),
    ...workspaces.map(({ id, name }) => ({
      id,
      says: `Open the workspace ${visibleText(name)}`,
      run: () => open(id),
    })),
    { id: 'device', says: 'Give a program access', run: () => void navigate({ to: '/device' }) },
    { id: 'sign-out', says: 'Sign out', run: () => leave.mutate() },
  ];
}

/**
 * Offers the commands and the objects whose names contain the text. When there are none, offers to open the page of a
 * pasted id.
 */
function useSearch(text: string, { commands, onChosen }: FinderProps): Search {
  const workspace = use(WorkspaceContext);
  const navigate = useNavigate();
  const [fault, setFault] = useState<{ text: string; error: unknown } | null>(null);
  const objects = useNamedObjects(workspace, text).map(({ kind, name, to }) => ({
    id: `${kind} ${name}`,
    says: `Open the ${kind} ${visibleText(name)}`,
    run: () => void navigate({ to }),
  }));
  const named = [...commands.filter(({ says }) => says.toLowerCase().includes(text.trim().toLowerCase())), ...objects];
  const page = named.length > 0 || workspace === null ? null : pageOfId(text);
  if (page === null || workspace === null) return { found: named, fault: null };
  const open = async () => {
    const place = await page.find(workspaceClient(idRoutes, workspace.id));
    if (place === null) throw new Error('No object in this workspace has this id');
    onChosen();
    const { to, search = {} } = place;
    await navigate({ to, search: (before: { workspace?: string }) => ({ workspace: before.workspace, ...search }) });
  };
  const command: Command = {
    id: 'by-id',
    says: visibleText(page.says),
    run: () => void open().catch((error: unknown) => setFault({ text, error })),
  };
  return { found: [command], fault: fault?.text === text ? fault.error : null };
}

type FinderProps = { commands: Command[]; onChosen: () => void };

function Finder({ commands, onChosen }: FinderProps) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { found, fault } = useSearch(text, { commands, onChosen });
  const marked = found[Math.min(at, found.length - 1)];
  const choose = (command: Command | undefined) => {
    if (command === undefined) return;
    // For an id, the palette stays open: it looks up the page first, and shows errors.
    if (command.id !== 'by-id') onChosen();
    command.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') choose(marked);
    if (step === undefined || found.length === 0) return;
    event.preventDefault();
    setAt((Math.min(at, found.length - 1) + step + found.length) % found.length);
  };
  const typed = (value: string) => {
    setText(value);
    setAt(0);
  };
  return (
    <div className="palette">
      <input
        {...comboboxOf(marked)}
        data-autofocus
        value={text}
        onChange={(event) => typed(event.target.value)}
        onKeyDown={pressed}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((command) => (
          <li
            key={command.id}
            id={`palette-${command.id}`}
            role="option"
            aria-selected={command === marked}
            onClick={() => choose(command)}
          >
            {command.says}
          </li>
        ))}
      </ul>
      {fault !== null && <ProblemNote error={fault} />}
      {found.length === 0 && (
        <p className="quiet">No matches. Try the name of a page, an agent, a tool or a task, or paste an id.</p>
      )}
    </div>
  );
}

const comboboxOf = (marked: Command | undefined) => ({
  role: 'combobox',
  'aria-label': 'Page or action',
  'aria-expanded': true,
  'aria-controls': 'palette-list',
  'aria-activedescendant': marked === undefined ? undefined : `palette-${marked.id}`,
  placeholder: 'Page, agent, tool, task or id',
  autoComplete: 'off',
  spellCheck: false,
});
