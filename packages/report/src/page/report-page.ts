import { parseStrictJson, portableProvider, utf8Bytes } from '@countersign/crypto';
import { parseLogPolicy, readTrust, verifyText, type ExportReport } from '@countersign/verifier';
import type { ReportData } from '../report-data.ts';
import { changeOneByte } from './changed-byte.ts';
import { button, element } from './element.ts';
import { readPack } from './read-pack.ts';
import { approvalsView, basisView, policiesView, timelineView, verdictView } from './views.ts';

/** Those of the command. */
const keysLimits = { bytesMax: 1_048_576, depthMax: 16 };

/** The report of the verifier for these texts. Throws VerificationError for keys or a policy that cannot be read. */
export function verifiedReport({ pack, keys, root, policy }: ReportData): ExportReport {
  const provider = portableProvider;
  const trust = readTrust(parseStrictJson(keys, keysLimits), { root, provider });
  return verifyText(pack, {
    trust,
    provider,
    policy: policy === undefined ? undefined : parseLogPolicy(policy, provider),
  });
}

/**
 * Verifies the pack and shows it. After each change of the pack or the keys, everything is verified and shown again.
 */
export function showReport(root: HTMLElement, original: ReportData): void {
  show(root, { shown: original, original, note: null });
}

type State = { shown: ReportData; original: ReportData; note: string | null };

function show(root: HTMLElement, state: State): void {
  const { shown } = state;
  const report = verifiedReport(shown);
  const content = readPack(shown.pack);
  root.replaceChildren(
    element('h1', {}, 'Evidence report'),
    verdictView(report),
    controlsView(root, state),
    basisView(report, `sha256:${portableProvider.sha256Hex(utf8Bytes(shown.pack))}`),
    timelineView(content, report),
    approvalsView(content),
    policiesView(content),
    machineView(report),
  );
}

function controlsView(root: HTMLElement, state: State): HTMLElement {
  const { shown, original, note } = state;
  const isChanged = shown.pack !== original.pack;
  const change = () => {
    const changed = changeOneByte(original.pack);
    if (changed === null) return show(root, { ...state, note: 'The pack has no receipt to change.' });
    const { pack, line, from, to } = changed;
    show(root, {
      ...state,
      shown: { ...shown, pack },
      note: `Line ${line}: one digit was changed from ${from} to ${to}.`,
    });
  };
  const restore = () => show(root, { ...state, shown: { ...shown, pack: original.pack }, note: null });
  return element(
    'section',
    { id: 'controls' },
    isChanged ? button('Restore the pack', restore) : button('Change one byte', change),
    keysInput(root, state),
    policyInput(root, state),
    button('Save the pack', () => savePack(shown.pack)),
    element('p', {}, originHint),
    ...(note === null ? [] : [element('p', { id: 'note' }, note)]),
  );
}

/** The page cannot prove that its own verifier is genuine. */
const originHint =
  'The author of this file also made its verifier and chose its keys. If that was not you, save the pack and verify it with your own copy of ' +
  'countersign-verify and keys that you have from elsewhere.';

function savePack(pack: string): void {
  const address = URL.createObjectURL(new Blob([pack], { type: 'application/jsonl' }));
  const link = element('a', { href: address, download: 'pack.jsonl' });
  link.click();
  URL.revokeObjectURL(address);
}

function keysInput(root: HTMLElement, state: State): HTMLElement {
  const input = element('input', { type: 'file', accept: 'application/json,.json' });
  const rootKey = element('input', { type: 'text', size: '43', value: state.shown.root ?? '' });
  input.addEventListener('change', () => void openKeys(root, state, { input, rootKey }));
  return element(
    'div',
    {},
    element('label', {}, 'Root key of a trust list ', rootKey),
    element('label', {}, 'Verify with your own key set or trust list ', input),
  );
}

type KeyInputs = { input: HTMLElement; rootKey: HTMLElement };

async function openKeys(root: HTMLElement, state: State, { input, rootKey }: KeyInputs): Promise<void> {
  const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
  if (file === undefined) return;
  const { root: _former, ...kept } = state.shown;
  const entered = rootKey instanceof HTMLInputElement ? rootKey.value.trim() : '';
  const shown = { ...kept, keys: await file.text(), ...(entered === '' ? {} : { root: entered }) };
  try {
    show(root, { ...state, shown, note: `Verified with the keys of ${file.name}.` });
  } catch (error) {
    show(root, {
      ...state,
      note: `${file.name} is not a key set: ${error instanceof Error ? error.message : 'unknown'}`,
    });
  }
}

function policyInput(root: HTMLElement, state: State): HTMLElement {
  const input = element('input', { type: 'file', accept: 'text/plain,.policy,.txt' });
  input.addEventListener('change', () => void openPolicy(root, state, input));
  return element('label', {}, 'Require your own witnesses (tlog-policy) ', input);
}

async function openPolicy(root: HTMLElement, state: State, input: HTMLElement): Promise<void> {
  const file = input instanceof HTMLInputElement ? input.files?.[0] : undefined;
  if (file === undefined) return;
  const shown = { ...state.shown, policy: await file.text() };
  try {
    show(root, { ...state, shown, note: `Verified with the witnesses of ${file.name}.` });
  } catch (error) {
    show(root, {
      ...state,
      note: `${file.name} is not a policy of witnesses: ${error instanceof Error ? error.message : 'unknown'}`,
    });
  }
}

/** The report in the output format of `countersign-verify --json`. */
function machineView(report: ExportReport): HTMLElement {
  const text = element('pre', { id: 'report-json' }, JSON.stringify(report));
  return element('details', {}, element('summary', {}, 'Report as JSON'), text);
}
