import { visibleText } from '@countersign/contracts';

/**
 * Markup that may be written unescaped. Only the template tag `html` and constant texts create it, so no text of a
 * caller becomes markup.
 */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | null | readonly HtmlPart[];

/**
 * Markup with values. Each value except markup is escaped for text and quoted attributes. Invisible characters, and
 * those that change the order of the text, are written visibly, such as ⟨U+202E⟩. `null` writes nothing.
 */
export function html(markup: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(String.raw({ raw: markup }, ...values.map(written)));
}

function written(value: HtmlPart): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(written).join('');
  return escaped(visibleText(String(value)));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
