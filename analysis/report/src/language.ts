// The languages of the page: every text that the page itself shows. Texts of the results come with the data.
import { chinese } from './chinese';

const dictionaries: Record<string, Record<string, string>> = { zh: chinese };
let texts: Record<string, string> = {};

/** Sets the language of the page; English if there is no dictionary for it. */
export function setLanguage(language = 'en'): void {
  texts = dictionaries[language] ?? {};
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
}

/** Returns a text in the page's language, with the values in the places of {0}, {1}, ... A text without translation stays. */
export function t(text: string, ...values: (string | number)[]): string {
  const found = Object.prototype.hasOwnProperty.call(texts, text) ? texts[text] : text;
  if (values.length === 0) return found;
  const whole = found.replace(/\{(\d)\}/g, (place, i: string) => String(values[Number(i)] ?? place));
  return texts === dictionaries.zh ? whole.replace(/ ?([，。：；、（）]) ?/g, '$1') : whole;  // a value may end in a full-width sign
}
