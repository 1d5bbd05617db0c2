// The page's data: a JSON header, and one column of base64 for each field of an event, as the
// command embedded them.

const kArrays = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f64: Float64Array,
};

function decodeBase64(text) {
  if (typeof Uint8Array.fromBase64 === "function") {
    return Uint8Array.fromBase64(text);
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}

// Takes the header and the columns out of the document, and drops their text there.
export function takePayload(document) {
  const header = JSON.parse(document.getElementById("run").textContent);
  const columns = {};
  for (const { name, type } of header.columns) {
    const element = document.getElementById(`column-${name}`);
    const bytes = decodeBase64(element.textContent.trim());
    columns[name] = new kArrays[type](bytes.buffer, 0, bytes.byteLength / kArrays[type].BYTES_PER_ELEMENT);
    if (columns[name].length !== header.events) {
      throw new Error(`column ${name} holds ${columns[name].length} values for ${header.events} events: the page is damaged`);
    }
    element.remove();
  }
  return { header, columns };
}
