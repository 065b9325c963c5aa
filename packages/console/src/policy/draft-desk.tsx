import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { isAppError } from '@countersign/contracts';
import type { CompiledDraft, PolicyDraft } from '@countersign/contracts/control-plane';
import { Mark } from '../parts/mark.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { CompiledView } from './compiled-view.tsx';
import { DraftSteps } from './draft-steps.tsx';
import type { ActivePolicy } from './in-force.tsx';
import { LeavingUnsaved } from './leaving-unsaved.tsx';
import { OtherVersion } from './other-version.tsx';
import { Report } from './report.tsx';
import { RuleForm } from './rule-form.tsx';
import { useCompile } from './use-draft.ts';

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }));

type Props = { stored: PolicyDraft; active: ActivePolicy | undefined };

/** The draft as text, the result of the compiler, and the steps to activation. */
export function DraftDesk({ stored, active }: Props) {
  const [text, setText] = useState(stored.text);
  const [base, setBase] = useState(stored);
  const [chosenLine, chooseLine] = useState<number | null>(null);
  const compile = useCompile(setBase);
  const isChanged = text !== base.text;
  // A newer stored draft is shown only when no unsaved text would be lost.
  if (stored.version > base.version && (!isChanged || stored.text === text)) {
    setBase(stored);
    setText(stored.text);
  }
  const run = () => compile.mutate({ text, version: base.version, isChanged });
  const takeOver = (draft: PolicyDraft) => {
    setBase(draft);
    compile.reset();
  };
  const compiled = isOf(compile.data, stored) && !isChanged ? compile.data : undefined;
  const isStale = isAppError(compile.error) && compile.error.code === 'PRECONDITION_FAILED';
  return (
    <section className="card" aria-label="Draft">
      <LeavingUnsaved isUnsaved={isChanged} />
      <header className="card-head">
        <h2>Draft</h2>
        <Mark tone="plain">{isChanged ? 'not saved' : stored.state}</Mark>
      </header>
      <DraftSteps state={stored.state} isChanged={isChanged} />
      <Suspense fallback={<p className="quiet">Loading the editor…</p>}>
        <CodeEditor
          text={text}
          label="Text of the draft"
          faultyLines={linesOf(compiled)}
          chosenLine={chosenLine}
          onChange={setText}
          onRun={run}
        />
      </Suspense>
      <p className="quiet">Ctrl-Enter saves and compiles. Tab leaves the editor.</p>
      <footer className="card-actions">
        <Button size="xs" loading={compile.isPending} onClick={run}>
          Save and compile
        </Button>
      </footer>
      <RuleForm text={text} onChange={setText} />
      {isStale && <OtherVersion stored={base} text={text} onTaken={takeOver} onDiscarded={setText} />}
      {compile.error !== null && <ProblemNote error={compile.error} />}
      {compiled !== undefined && <CompiledView compiled={compiled} onLine={chooseLine} />}
      {!isChanged && stored.policy_hash !== null && active !== undefined && (
        <Report key={stored.policy_hash} draft={stored} policyHash={stored.policy_hash} active={active} />
      )}
    </section>
  );
}

function isOf(compiled: CompiledDraft | undefined, { version }: PolicyDraft): compiled is CompiledDraft {
  return compiled?.version === version;
}

function linesOf(compiled: CompiledDraft | undefined): number[] {
  return (compiled?.diagnostics ?? []).flatMap(({ line }) => line ?? []);
}
