import { history, historyKeymap, insertNewline, selectAll } from '@codemirror/commands';
import { EditorState, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, highlightActiveLine, keymap, lineNumbers, type DecorationSet } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef } from 'react';

type Props = {
  text: string;
  label: string;
  faultyLines: readonly number[];
  /** The line that the editor scrolls to. */
  chosenLine: number | null;
  onChange: (text: string) => void;
  onRun: () => void;
};

/**
 * A text editor with line numbers. A shadow root adopts its styles, because the Content Security Policy blocks inline
 * styles.
 */
export function CodeEditor({ text, label, faultyLines, chosenLine, onChange, onRun }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const changed = useEffectEvent(onChange);
  const run = useEffectEvent(onRun);
  const first = useEffectEvent(() => text);
  useEffect(() => {
    if (host.current === null) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const extensions = [
      keymap.of([{ key: 'Ctrl-Enter', mac: 'Cmd-Enter', run: () => (run(), true) }]),
      ...[history(), keymap.of([...historyKeymap, ...keys]), lineNumbers(), highlightActiveLine()],
      ...[EditorView.lineWrapping, look, faults, EditorView.contentAttributes.of({ 'aria-label': label })],
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) changed(state.doc.toString());
      }),
    ];
    const made = new EditorView({ root, parent: root, state: EditorState.create({ doc: first(), extensions }) });
    // The box scrolls, so a keyboard must be able to reach it.
    made.scrollDOM.tabIndex = 0;
    editor.current = made;
    return () => made.destroy();
  }, [label]);
  useEffect(() => {
    const view = editor.current;
    if (view === null || view.state.doc.toString() === text) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }, [text]);
  const lines = faultyLines.join(' ');
  useEffect(() => {
    const marked = lines === '' ? [] : lines.split(' ').map(Number);
    editor.current?.dispatch({ effects: markFaults.of(marked) });
  }, [lines]);
  useEffect(() => {
    const view = editor.current;
    if (view === null || chosenLine === null || chosenLine > view.state.doc.lines) return;
    const { from } = view.state.doc.line(chosenLine);
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    view.focus();
  }, [chosenLine]);
  return <div ref={host} className="code-editor" />;
}

/** Browsers handle other editing keys. The default keys of the editor would load the parsers of languages. */
const keys = [
  { key: 'Enter', run: insertNewline },
  { key: 'Mod-a', run: selectAll },
];

const markFaults = StateEffect.define<readonly number[]>();
const faultyLine = Decoration.line({ class: 'cm-faulty' });

const faults = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { effects, changes, state }) => {
    const marked = effects.find((effect) => effect.is(markFaults));
    if (marked === undefined) return marks.map(changes);
    const lines = [...new Set(marked.value)].sort((a, b) => a - b);
    const builder = new RangeSetBuilder<Decoration>();
    for (const line of lines.filter((number) => number <= state.doc.lines)) {
      const { from } = state.doc.line(line);
      builder.add(from, from, faultyLine);
    }
    return builder.finish();
  },
  provide: (field) => EditorView.decorations.from(field),
});

const look = EditorView.theme({
  '&': { border: '1px solid var(--line)', backgroundColor: 'var(--raised)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-scroller': { maxHeight: '24rem', overflow: 'auto', fontFamily: 'var(--mono)' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'var(--hover)' },
  '.cm-faulty': { backgroundColor: 'var(--bad-back)' },
});
