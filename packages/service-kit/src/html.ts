import { visibleText } from '@countersign/contracts';

/** Markup that may be written as it is. Only the tag below makes it, so no text of a caller becomes markup. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | null | readonly HtmlPart[];

/**
 * Markup with values in it. Each value is escaped, in text as well as in a quoted attribute. Invisible characters, and
 * those that change the order of the text, are written by their number. Null writes nothing.
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
