package cli

import (
	"bytes"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// yaml writes the value as one document: members in their order, numbers as they were written.
func (t tree) yaml() ([]byte, error) {
	node, err := t.yamlNode()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		return nil, fmt.Errorf("encode YAML: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("encode YAML: %w", err)
	}
	return visible(buf.Bytes()), nil
}

// visible writes the characters that steer a terminal, and that YAML takes for printable, as escapes. They are only in
// scalars with double quotes: stringNode sees to that.
func visible(document []byte) []byte {
	if !bytes.ContainsFunc(document, steers) {
		return document
	}
	var buf bytes.Buffer
	for _, r := range string(document) {
		if steers(r) {
			fmt.Fprintf(&buf, `\u%04x`, r)
		} else {
			buf.WriteRune(r)
		}
	}
	return buf.Bytes()
}

func (t tree) yamlNode() (*yaml.Node, error) {
	switch {
	case t.isObject():
		members, err := t.members()
		if err != nil {
			return nil, err
		}
		node := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range members {
			value, err := m.value.yamlNode()
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, stringNode(m.name), value)
		}
		return emptyInFlow(node), nil
	case t.isList():
		items, err := t.items()
		if err != nil {
			return nil, err
		}
		node := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range items {
			value, err := item.yamlNode()
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, value)
		}
		return emptyInFlow(node), nil
	case t.isString():
		return stringNode(t.text()), nil
	}
	// Without a tag the literal is written plain, whatever its size.
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(t.raw)}, nil
}

func stringNode(s string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.ContainsFunc(s, steers) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}

func emptyInFlow(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}
