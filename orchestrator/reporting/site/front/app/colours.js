"use strict";
// A framework has a look by its name: a hue, a shape and a dash, so that no reader needs the colour alone.
(() => {
  const HUES = 8;
  const DASHES = ["", "7 3", "2 3", "9 3 2 3", "14 4", "9 3 2 3 2 3", "4 7"];
  const SHAPES = ["Circle", "Square", "Triangle", "Diamond", "Star", "Cross", "Wye", "Down"];
  // Hues count from 1. A hue has two turns: of its two frameworks, one has a solid line and the other a dashed one.
  const LOOKS = new Map([
    ["mxnet", [1, 0]], ["mxnet-mkl", [1, 1]],
    ["tensorflow", [2, 0]], ["keras", [2, 1]],
    ["jax", [3, 0]], ["keras-mxnet", [3, 1]],
    ["openvino", [4, 0]], ["keras3", [4, 1]],
    ["scikit-learn", [5, 0]], ["theano", [5, 1]],
    ["onnxruntime", [6, 0]], ["onnxruntime-openvino", [6, 1]],
    ["noop", [7, 0]], ["cntk", [7, 1]],
    ["torch", [8, 0]],
  ]);
  // What is left is for frameworks that the catalog does not name.
  const taken = new Set([...LOOKS.values()].map(String));
  const FREE = [1, 2].flatMap((turn) => Array.from({ length: HUES }, (_, hue) => [hue + 1, turn])).filter((each) => !taken.has(String(each)));

  // d3 has triangles that point up alone.
  const down = {
    draw(context, size) {
      const [rise, half] = [Math.sqrt(size / Math.sqrt(27)), Math.sqrt(size / Math.sqrt(3))];
      context.moveTo(0, rise * 2);
      context.lineTo(-half, -rise);
      context.lineTo(half, -rise);
      context.closePath();
    },
  };
  const lookOf = (hue, shape, dash) => ({ series: `series-${hue}`, shape: SHAPES[shape % SHAPES.length], dash: DASHES[dash % DASHES.length] || null });

  // The look of a line of a framework, of which there may be several. They keep its hue. Every second shape is for it, so
  // that those between are for the other framework of the hue; with the seven dashes, 28 lines are different.
  bench.look = (framework, line = 0, others = []) => {
    const [hue, turn] = LOOKS.get(framework) ?? FREE[Math.max(0, others.indexOf(framework)) % FREE.length];
    return lookOf(hue, hue - 1 + turn + 2 * line, turn + line);
  };
  bench.isNamed = (framework) => LOOKS.has(framework);
  // Within one cell, hues tell repeats apart.
  bench.lookOfRepeat = (place) => lookOf(place % HUES + 1, place, place);
  // Points that belong to no single framework.
  bench.plainLook = { series: "plain-series", shape: "Circle", dash: null };
  bench.shape = ({ shape }) => shape === "Down" ? down : d3[`symbol${shape}`];

  // Steps of a ratio that is better (blue) or worse (orange); the last is for all beyond, and is marked.
  const steps = [1.02, 1.1, 1.3, 2];
  bench.steps = steps;
  bench.shade = (ratio, higherIsBetter) => {
    if (!(ratio > 0)) return { name: "none", beyond: false };
    const gain = higherIsBetter ? ratio : 1 / ratio;
    const size = Math.max(gain, 1 / gain);
    const step = steps.filter((each) => size >= each).length;
    return { name: step ? `${gain > 1 ? "better" : "worse"}-${step}` : "even", beyond: size > 4 };
  };
})();
